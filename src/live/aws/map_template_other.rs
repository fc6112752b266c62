//! The fields of a launch template that eniplan only carries along, as the EC2 API names them in requests.
//!
//! Source: EC2 API reference, `RequestLaunchTemplateData` and the types below it.

use std::collections::BTreeMap;

use aws_sdk_ec2::types as ec2;
use aws_smithy_types::date_time::Format;
use serde_json::Value;

/// The fields that are set, by name.
pub(super) fn fields<const N: usize>(fields: [(&str, Option<Value>); N]) -> BTreeMap<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The same as one JSON object.
pub(super) fn object<const N: usize>(set: [(&str, Option<Value>); N]) -> Value {
    Value::Object(fields(set).into_iter().collect())
}

fn list<T>(items: &Option<Vec<T>>, each: impl Fn(&T) -> Value) -> Option<Value> {
    items.as_deref().filter(|items| !items.is_empty()).map(|items| items.iter().map(each).collect())
}

fn text(value: &Option<String>) -> Option<Value> {
    value.clone().map(Value::from)
}

/// A range of an instance requirement.
macro_rules! range {
    ($value:expr) => {
        $value.as_ref().map(|range| object([("Min", range.min.map(Value::from)), ("Max", range.max.map(Value::from))]))
    };
}

/// An enumeration by its word in the API.
macro_rules! word {
    ($value:expr) => {
        $value.as_ref().map(|value| Value::from(value.as_str()))
    };
}

pub(super) fn of_data(raw: &ec2::ResponseLaunchTemplateData) -> BTreeMap<String, Value> {
    fields([
        ("CapacityReservationSpecification", raw.capacity_reservation_specification.as_ref().map(capacity_reservation)),
        ("CpuOptions", raw.cpu_options.as_ref().map(cpu_options)),
        (
            "CreditSpecification",
            raw.credit_specification.as_ref().map(|credit| object([("CpuCredits", text(&credit.cpu_credits))])),
        ),
        ("DisableApiStop", raw.disable_api_stop.map(Value::from)),
        ("DisableApiTermination", raw.disable_api_termination.map(Value::from)),
        ("EbsOptimized", raw.ebs_optimized.map(Value::from)),
        (
            "ElasticGpuSpecifications",
            list(&raw.elastic_gpu_specifications, |gpu| object([("Type", text(&gpu.r#type))])),
        ),
        (
            "ElasticInferenceAccelerators",
            list(&raw.elastic_inference_accelerators, |accelerator| {
                object([("Type", text(&accelerator.r#type)), ("Count", accelerator.count.map(Value::from))])
            }),
        ),
        (
            "EnclaveOptions",
            raw.enclave_options.as_ref().map(|options| object([("Enabled", options.enabled.map(Value::from))])),
        ),
        ("InstanceRequirements", raw.instance_requirements.as_ref().map(instance_requirements)),
        ("KernelId", text(&raw.kernel_id)),
        (
            "LicenseSpecifications",
            list(&raw.license_specifications, |license| {
                object([("LicenseConfigurationArn", text(&license.license_configuration_arn))])
            }),
        ),
        (
            "MaintenanceOptions",
            raw.maintenance_options.as_ref().map(|options| object([("AutoRecovery", word!(options.auto_recovery))])),
        ),
        (
            "Monitoring",
            raw.monitoring.as_ref().map(|monitoring| object([("Enabled", monitoring.enabled.map(Value::from))])),
        ),
        (
            "NetworkPerformanceOptions",
            raw.network_performance_options
                .as_ref()
                .map(|options| object([("BandwidthWeighting", word!(options.bandwidth_weighting))])),
        ),
        ("Operator", raw.operator.as_ref().map(operator)),
        ("Placement", raw.placement.as_ref().map(placement)),
        ("PrivateDnsNameOptions", raw.private_dns_name_options.as_ref().map(private_dns_name_options)),
        ("RamDiskId", text(&raw.ram_disk_id)),
        ("SecondaryInterfaces", list(&raw.secondary_interfaces, secondary_interface)),
        ("SecurityGroups", list(&raw.security_groups, |name| Value::from(name.as_str()))),
    ])
}

pub(super) fn of_network_interface(
    raw: &ec2::LaunchTemplateInstanceNetworkInterfaceSpecification,
) -> BTreeMap<String, Value> {
    fields([
        ("AssociateCarrierIpAddress", raw.associate_carrier_ip_address.map(Value::from)),
        ("AssociatePublicIpAddress", raw.associate_public_ip_address.map(Value::from)),
        (
            "ConnectionTrackingSpecification",
            raw.connection_tracking_specification.as_ref().map(|tracking| {
                object([
                    ("TcpEstablishedTimeout", tracking.tcp_established_timeout.map(Value::from)),
                    ("UdpStreamTimeout", tracking.udp_stream_timeout.map(Value::from)),
                    ("UdpTimeout", tracking.udp_timeout.map(Value::from)),
                ])
            }),
        ),
        ("DeleteOnTermination", raw.delete_on_termination.map(Value::from)),
        ("Description", text(&raw.description)),
        ("EnaQueueCount", raw.ena_queue_count.map(Value::from)),
        ("EnaSrdSpecification", raw.ena_srd_specification.as_ref().map(ena_srd)),
        ("InterfaceType", text(&raw.interface_type)),
        ("Ipv4PrefixCount", raw.ipv4_prefix_count.map(Value::from)),
        ("Ipv4Prefixes", list(&raw.ipv4_prefixes, |prefix| object([("Ipv4Prefix", text(&prefix.ipv4_prefix))]))),
        ("Ipv6AddressCount", raw.ipv6_address_count.map(Value::from)),
        ("Ipv6Addresses", list(&raw.ipv6_addresses, |address| object([("Ipv6Address", text(&address.ipv6_address))]))),
        ("Ipv6PrefixCount", raw.ipv6_prefix_count.map(Value::from)),
        ("Ipv6Prefixes", list(&raw.ipv6_prefixes, |prefix| object([("Ipv6Prefix", text(&prefix.ipv6_prefix))]))),
        ("NetworkCardIndex", raw.network_card_index.map(Value::from)),
        ("NetworkInterfaceId", text(&raw.network_interface_id)),
        ("PrimaryIpv6", raw.primary_ipv6.map(Value::from)),
        ("PrivateIpAddress", text(&raw.private_ip_address)),
        (
            "PrivateIpAddresses",
            list(&raw.private_ip_addresses, |address| {
                object([
                    ("Primary", address.primary.map(Value::from)),
                    ("PrivateIpAddress", text(&address.private_ip_address)),
                ])
            }),
        ),
        ("SecondaryPrivateIpAddressCount", raw.secondary_private_ip_address_count.map(Value::from)),
    ])
}

pub(super) fn iam_instance_profile(raw: &ec2::LaunchTemplateIamInstanceProfileSpecification) -> Value {
    object([("Arn", text(&raw.arn)), ("Name", text(&raw.name))])
}

pub(super) fn market_options(raw: &ec2::LaunchTemplateInstanceMarketOptions) -> Value {
    object([
        ("MarketType", word!(raw.market_type)),
        (
            "SpotOptions",
            raw.spot_options.as_ref().map(|spot| {
                object([
                    ("BlockDurationMinutes", spot.block_duration_minutes.map(Value::from)),
                    ("InstanceInterruptionBehavior", word!(spot.instance_interruption_behavior)),
                    ("MaxPrice", text(&spot.max_price)),
                    ("SpotInstanceType", word!(spot.spot_instance_type)),
                    (
                        "ValidUntil",
                        spot.valid_until.and_then(|until| until.fmt(Format::DateTime).ok()).map(Value::from),
                    ),
                ])
            }),
        ),
    ])
}

fn capacity_reservation(raw: &ec2::LaunchTemplateCapacityReservationSpecificationResponse) -> Value {
    object([
        ("CapacityReservationPreference", word!(raw.capacity_reservation_preference)),
        (
            "CapacityReservationTarget",
            raw.capacity_reservation_target.as_ref().map(|target| {
                object([
                    ("CapacityReservationId", text(&target.capacity_reservation_id)),
                    ("CapacityReservationResourceGroupArn", text(&target.capacity_reservation_resource_group_arn)),
                ])
            }),
        ),
    ])
}

fn cpu_options(raw: &ec2::LaunchTemplateCpuOptions) -> Value {
    object([
        ("AmdSevSnp", word!(raw.amd_sev_snp)),
        ("CoreCount", raw.core_count.map(Value::from)),
        ("NestedVirtualization", word!(raw.nested_virtualization)),
        ("ThreadsPerCore", raw.threads_per_core.map(Value::from)),
    ])
}

fn ena_srd(raw: &ec2::LaunchTemplateEnaSrdSpecification) -> Value {
    object([
        ("EnaSrdEnabled", raw.ena_srd_enabled.map(Value::from)),
        (
            "EnaSrdUdpSpecification",
            raw.ena_srd_udp_specification
                .as_ref()
                .map(|udp| object([("EnaSrdUdpEnabled", udp.ena_srd_udp_enabled.map(Value::from))])),
        ),
    ])
}

fn operator(raw: &ec2::OperatorResponse) -> Value {
    object([
        ("HiddenByDefault", raw.hidden_by_default.map(Value::from)),
        ("Managed", raw.managed.map(Value::from)),
        ("Principal", text(&raw.principal)),
    ])
}

fn placement(raw: &ec2::LaunchTemplatePlacement) -> Value {
    object([
        ("Affinity", text(&raw.affinity)),
        ("AvailabilityZone", text(&raw.availability_zone)),
        ("AvailabilityZoneId", text(&raw.availability_zone_id)),
        ("GroupId", text(&raw.group_id)),
        ("GroupName", text(&raw.group_name)),
        ("HostId", text(&raw.host_id)),
        ("HostResourceGroupArn", text(&raw.host_resource_group_arn)),
        ("PartitionNumber", raw.partition_number.map(Value::from)),
        ("SpreadDomain", text(&raw.spread_domain)),
        ("Tenancy", word!(raw.tenancy)),
    ])
}

fn private_dns_name_options(raw: &ec2::LaunchTemplatePrivateDnsNameOptions) -> Value {
    object([
        ("EnableResourceNameDnsAAAARecord", raw.enable_resource_name_dns_aaaa_record.map(Value::from)),
        ("EnableResourceNameDnsARecord", raw.enable_resource_name_dns_a_record.map(Value::from)),
        ("HostnameType", word!(raw.hostname_type)),
    ])
}

fn secondary_interface(raw: &ec2::LaunchTemplateInstanceSecondaryInterfaceSpecification) -> Value {
    object([
        ("DeleteOnTermination", raw.delete_on_termination.map(Value::from)),
        ("DeviceIndex", raw.device_index.map(Value::from)),
        ("InterfaceType", word!(raw.interface_type)),
        ("NetworkCardIndex", raw.network_card_index.map(Value::from)),
        ("PrivateIpAddressCount", raw.private_ip_address_count.map(Value::from)),
        (
            "PrivateIpAddresses",
            list(&raw.private_ip_addresses, |address| {
                object([("PrivateIpAddress", text(&address.private_ip_address))])
            }),
        ),
        ("SecondarySubnetId", text(&raw.secondary_subnet_id)),
    ])
}

fn instance_requirements(raw: &ec2::InstanceRequirements) -> Value {
    object([
        ("AcceleratorCount", range!(raw.accelerator_count)),
        ("AcceleratorManufacturers", list(&raw.accelerator_manufacturers, |value| value.as_str().into())),
        ("AcceleratorNames", list(&raw.accelerator_names, |value| value.as_str().into())),
        ("AcceleratorTotalMemoryMiB", range!(raw.accelerator_total_memory_mib)),
        ("AcceleratorTypes", list(&raw.accelerator_types, |value| value.as_str().into())),
        ("AllowedInstanceTypes", list(&raw.allowed_instance_types, |value| value.as_str().into())),
        ("BareMetal", word!(raw.bare_metal)),
        ("BaselineEbsBandwidthMbps", range!(raw.baseline_ebs_bandwidth_mbps)),
        ("BaselinePerformanceFactors", raw.baseline_performance_factors.as_ref().map(baseline_performance)),
        ("BurstablePerformance", word!(raw.burstable_performance)),
        ("CpuManufacturers", list(&raw.cpu_manufacturers, |value| value.as_str().into())),
        ("ExcludedInstanceTypes", list(&raw.excluded_instance_types, |value| value.as_str().into())),
        ("InstanceGenerations", list(&raw.instance_generations, |value| value.as_str().into())),
        ("LocalStorage", word!(raw.local_storage)),
        ("LocalStorageTypes", list(&raw.local_storage_types, |value| value.as_str().into())),
        (
            "MaxSpotPriceAsPercentageOfOptimalOnDemandPrice",
            raw.max_spot_price_as_percentage_of_optimal_on_demand_price.map(Value::from),
        ),
        ("MemoryGiBPerVCpu", range!(raw.memory_gib_per_v_cpu)),
        ("MemoryMiB", range!(raw.memory_mib)),
        ("NetworkBandwidthGbps", range!(raw.network_bandwidth_gbps)),
        ("NetworkInterfaceCount", range!(raw.network_interface_count)),
        (
            "OnDemandMaxPricePercentageOverLowestPrice",
            raw.on_demand_max_price_percentage_over_lowest_price.map(Value::from),
        ),
        ("RequireEncryptionInTransit", raw.require_encryption_in_transit.map(Value::from)),
        ("RequireHibernateSupport", raw.require_hibernate_support.map(Value::from)),
        ("SpotMaxPricePercentageOverLowestPrice", raw.spot_max_price_percentage_over_lowest_price.map(Value::from)),
        ("TotalLocalStorageGB", range!(raw.total_local_storage_gb)),
        ("VCpuCount", range!(raw.v_cpu_count)),
    ])
}

fn baseline_performance(raw: &ec2::BaselinePerformanceFactors) -> Value {
    object([(
        "Cpu",
        raw.cpu.as_ref().map(|cpu| {
            // Requests call the list `References`, the answer's element is `referenceSet`.
            object([(
                "References",
                list(&cpu.references, |reference| object([("InstanceFamily", text(&reference.instance_family))])),
            )])
        }),
    )])
}
