#!/bin/bash
echo with a byte order mark
