#!/bin/bash
# article_lookup.sh ADDRESS CIDR=NAME...
# The lookup that people wrote by hand in 2023, restated: for each row of a map in hash order, ask `ipcalc` twice for the
# ends of the subnet, turn three addresses into numbers with awk, and compare. Prints the name, or NONE.
address=$1
shift
declare -A names
for row in "$@"; do
  names[${row%%=*}]=${row#*=}
done

number() {
  echo "$1" | awk -F. '{ printf "%.0f\n", $1 * 256 * 256 * 256 + $2 * 256 * 256 + $3 * 256 + $4 }'
}

holds() {
  local last first low high value
  last=$(ipcalc -mbn "$1" | grep 'BROADCAST=' | awk -F 'BROADCAST=' '{ print $2 }')
  first=$(ipcalc -mbn "$1" | grep 'NETWORK=' | awk -F 'NETWORK=' '{ print $2 }')
  low=$(number "$first")
  high=$(number "$last")
  value=$(number "$address")
  if [ "$value" -ge "$low" ] && [ "$value" -le "$high" ]; then echo 1; else echo 0; fi
}

found=NONE
for cidr in "${!names[@]}"; do
  if [ "$(holds "$cidr")" -gt 0 ]; then
    found=${names[$cidr]}
    break
  fi
done
echo "$found"
