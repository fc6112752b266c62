"""Launch templates: what moto gets wrong and the bench must not."""

import base64

from base import TEMPLATE, BenchTest


def encoded(text):
    return base64.b64encode(text.encode()).decode()


class Templates(BenchTest):
    def create(self, name="eniplan-demo-web", **more):
        return self.ec2.create_launch_template(
            LaunchTemplateName=name, LaunchTemplateData={"UserData": encoded("x")}, **more
        )

    def test_a_name_is_taken_once(self):
        self.create()
        self.refused("InvalidLaunchTemplateName.AlreadyExistsException", self.create)

    def test_names_have_a_length_and_an_alphabet(self):
        for name in ("ab", "x" * 129, "a b c"):
            with self.subTest(name):
                self.refused(
                    "InvalidLaunchTemplateName.MalformedException",
                    self.loose_ec2.create_launch_template,
                    LaunchTemplateName=name,
                    LaunchTemplateData={"UserData": "eA=="},
                )

    def test_data_is_required(self):
        self.refused(
            "MissingParameter", self.loose_ec2.create_launch_template, LaunchTemplateName="abc", LaunchTemplateData={}
        )

    def test_tags_of_the_template_are_kept_apart_from_its_data(self):
        tags = [{"ResourceType": "launch-template", "Tags": [{"Key": "eniplan.dev/cluster", "Value": "demo"}]}]
        made = self.create(TagSpecifications=tags)["LaunchTemplate"]
        self.assertEqual(made["Tags"], tags[0]["Tags"])
        self.assertNotIn("TagSpecifications", self.version(1, made["LaunchTemplateId"]))

    def test_only_the_template_itself_can_be_tagged_on_creation(self):
        tags = [{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "b"}]}]
        self.refused("InvalidParameterValue", self.create, TagSpecifications=tags)

    def test_tags_that_come_later_are_seen(self):
        self.ec2.create_tags(
            Resources=[TEMPLATE], Tags=[{"Key": "new", "Value": "1"}, {"Key": "owner", "Value": "other"}]
        )
        shown = self.ec2.describe_launch_templates(LaunchTemplateIds=[TEMPLATE])["LaunchTemplates"][0]["Tags"]
        self.assertEqual({tag["Key"]: tag["Value"] for tag in shown}, {"owner": "other", "new": "1"})
        self.ec2.delete_tags(Resources=[TEMPLATE], Tags=[{"Key": "owner"}])
        found = self.ec2.describe_launch_templates(Filters=[{"Name": "tag-key", "Values": ["owner"]}])
        self.assertEqual(found["LaunchTemplates"], [])
        self.refused(
            "InvalidParameterValue", self.ec2.create_tags, Resources=[TEMPLATE], Tags=[{"Key": "aws:x", "Value": "1"}]
        )
        self.refused(
            "InvalidLaunchTemplateId.NotFound",
            self.ec2.create_tags,
            Resources=["lt-0fffffffffffffff0"],
            Tags=[{"Key": "x", "Value": "1"}],
        )

    def test_lookup_by_id_and_by_name(self):
        by_id = self.ec2.describe_launch_templates(LaunchTemplateIds=[TEMPLATE])["LaunchTemplates"]
        self.assertEqual(
            by_id, self.ec2.describe_launch_templates(LaunchTemplateNames=["web-nodes"])["LaunchTemplates"]
        )
        describe = self.ec2.describe_launch_templates
        self.refused("InvalidLaunchTemplateId.NotFound", describe, LaunchTemplateIds=["lt-0fffffffffffffff0"])
        self.refused("InvalidLaunchTemplateId.Malformed", describe, LaunchTemplateIds=["lt-nonsense"])
        self.refused("InvalidLaunchTemplateName.NotFoundException", describe, LaunchTemplateNames=["nobody"])
        self.refused(
            "InvalidLaunchTemplateName.NotFoundException", self.ec2.delete_launch_template, LaunchTemplateName="nobody"
        )

    def test_id_and_name_together(self):
        both = {"LaunchTemplateId": TEMPLATE, "LaunchTemplateName": "web-nodes"}
        self.refused("InvalidParameterCombination", self.ec2.describe_launch_template_versions, **both)
        self.refused(
            "InvalidParameterCombination",
            self.ec2.create_launch_template_version,
            **both,
            LaunchTemplateData={"UserData": "eA=="},
        )
        self.refused(
            "MissingParameter", self.ec2.create_launch_template_version, LaunchTemplateData={"UserData": "eA=="}
        )


class Versions(BenchTest):
    def from_source(self, source, **data):
        return self.ec2.create_launch_template_version(
            LaunchTemplateId=TEMPLATE, SourceVersion=source, LaunchTemplateData=data
        )["LaunchTemplateVersion"]

    def test_a_source_is_merged_over(self):
        data = self.from_source("3", UserData=encoded("new"))["LaunchTemplateData"]
        source = self.version(3)
        self.assertEqual(data["UserData"], encoded("new"))
        for kept in ("NetworkInterfaces", "TagSpecifications", "EbsOptimized"):
            self.assertEqual(data[kept], source[kept])
        self.assertEqual(data, self.version(6))

    def test_snapshots_of_the_source_are_dropped(self):
        mappings = self.version(3)["BlockDeviceMappings"]
        self.assertIn("SnapshotId", mappings[0]["Ebs"])
        self.assertNotIn("BlockDeviceMappings", self.from_source("3", UserData=encoded("new"))["LaunchTemplateData"])
        self.assertEqual(
            self.from_source("3", BlockDeviceMappings=mappings)["LaunchTemplateData"]["BlockDeviceMappings"], mappings
        )

    def test_without_snapshot_a_mapping_is_inherited(self):
        number = self.new_version(BlockDeviceMappings=[{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 50}}])
        self.assertEqual(
            self.from_source(str(number), UserData=encoded("x"))["LaunchTemplateData"]["BlockDeviceMappings"][0]["Ebs"],
            {"VolumeSize": 50},
        )

    def test_without_source_only_what_was_sent(self):
        self.assertEqual(self.version(self.new_version(KeyName="ops")), {"KeyName": "ops"})

    def test_an_unknown_source(self):
        self.refused(
            "InvalidLaunchTemplateId.VersionNotFound", self.from_source, "99", KeyName="ops", says="version 99"
        )

    def test_a_client_token_makes_one_version(self):
        ask = {"LaunchTemplateId": TEMPLATE, "ClientToken": "token-1", "LaunchTemplateData": {"KeyName": "ops"}}
        first = self.ec2.create_launch_template_version(**ask)["LaunchTemplateVersion"]
        again = self.ec2.create_launch_template_version(**ask)["LaunchTemplateVersion"]
        self.assertEqual(first, again)
        ask["LaunchTemplateData"] = {"KeyName": "other"}
        self.refused("IdempotentParameterMismatch", self.ec2.create_launch_template_version, **ask)
        self.assertEqual(self.ec2.describe_launch_templates()["LaunchTemplates"][0]["LatestVersionNumber"], 6)

    def test_user_data_is_base64_and_small(self):
        self.refused("InvalidUserData.Malformed", self.new_version, UserData="not base64!")
        self.new_version(UserData=base64.b64encode(b"x" * 16_384).decode())
        self.refused(
            "InvalidParameterValue", self.new_version, UserData=base64.b64encode(b"x" * 16_385).decode(), says="16384"
        )

    def test_wrong_values(self):
        self.refused("InvalidAMIID.Malformed", self.new_version, ImageId="al2023")
        self.refused("InvalidGroupId.Malformed", self.new_version, SecurityGroupIds=["default"])
        self.refused("InvalidParameterValue", self.new_version, MetadataOptions={"HttpPutResponseHopLimit": 65})
        self.refused("InvalidParameterValue", self.new_version, MetadataOptions={"HttpTokens": "maybe"})

    def test_the_default_moves_only_to_a_number_that_is_there(self):
        modify = self.ec2.modify_launch_template
        self.assertEqual(
            modify(LaunchTemplateId=TEMPLATE, DefaultVersion="3")["LaunchTemplate"]["DefaultVersionNumber"], 3
        )
        self.refused("InvalidParameterValue", modify, LaunchTemplateId=TEMPLATE, DefaultVersion="$Latest")
        self.refused("InvalidLaunchTemplateId.VersionNotFound", modify, LaunchTemplateId=TEMPLATE, DefaultVersion="77")

    def test_versions_are_deleted_but_the_default(self):
        done = self.ec2.delete_launch_template_versions(LaunchTemplateId=TEMPLATE, Versions=["1", "4", "5", "9"])
        self.assertEqual([one["VersionNumber"] for one in done["SuccessfullyDeletedLaunchTemplateVersions"]], [4, 5])
        refused = {
            one["VersionNumber"]: one["ResponseError"]["Code"]
            for one in done["UnsuccessfullyDeletedLaunchTemplateVersions"]
        }
        self.assertEqual(refused, {1: "unexpectedError", 9: "launchTemplateVersionDoesNotExist"})
        self.assertEqual(self.ec2.describe_launch_templates()["LaunchTemplates"][0]["LatestVersionNumber"], 3)
        self.assertEqual(self.new_version(KeyName="ops"), 6)

    def test_no_more_than_200_at_once(self):
        self.refused(
            "InvalidParameterValue",
            self.ec2.delete_launch_template_versions,
            LaunchTemplateId=TEMPLATE,
            Versions=[str(n) for n in range(201)],
        )

    def test_which_versions(self):
        def numbers(**ask):
            found = self.ec2.describe_launch_template_versions(**ask)["LaunchTemplateVersions"]
            return [version["VersionNumber"] for version in found]

        self.assertEqual(numbers(LaunchTemplateId=TEMPLATE), [5, 4, 3, 2, 1])
        self.assertEqual(numbers(LaunchTemplateId=TEMPLATE, Versions=["$Latest", "$Default", "3"]), [5, 3, 1])
        self.assertEqual(numbers(LaunchTemplateId=TEMPLATE, MinVersion="2", MaxVersion="4"), [4, 3, 2])
        self.assertEqual(numbers(LaunchTemplateId=TEMPLATE, Filters=[{"Name": "image-id", "Values": ["ami-*"]}]), [5])
        self.assertEqual(
            numbers(LaunchTemplateId=TEMPLATE, Filters=[{"Name": "is-default-version", "Values": ["true"]}]), [1]
        )
        self.assertEqual(numbers(Versions=["$Latest", "$Default"]), [5, 1])
        describe = self.ec2.describe_launch_template_versions
        self.refused("MissingParameter", describe, Versions=["3"])
        self.refused("InvalidLaunchTemplateId.VersionNotFound", describe, LaunchTemplateId=TEMPLATE, Versions=["99"])
        self.refused("InvalidParameterCombination", describe, LaunchTemplateId=TEMPLATE, Versions=["3"], MinVersion="1")

    def test_a_dry_run_changes_nothing(self):
        before = self.control("GET", "state")
        for function, ask in (
            (
                self.ec2.create_launch_template_version,
                {"LaunchTemplateId": TEMPLATE, "LaunchTemplateData": {"KeyName": "x"}},
            ),
            (self.ec2.create_launch_template, {"LaunchTemplateName": "abc", "LaunchTemplateData": {"KeyName": "x"}}),
            (self.ec2.modify_launch_template, {"LaunchTemplateId": TEMPLATE, "DefaultVersion": "3"}),
            (self.ec2.delete_launch_template_versions, {"LaunchTemplateId": TEMPLATE, "Versions": ["2"]}),
            (self.ec2.create_tags, {"Resources": [TEMPLATE], "Tags": [{"Key": "a", "Value": "b"}]}),
        ):
            self.refused("DryRunOperation", function, **ask, DryRun=True, status=412)
        self.assertEqual(before, self.control("GET", "state"))
        self.assertEqual(self.control("GET", "journal?mutating=true"), [])
        self.assertTrue(all(entry["dry_run"] for entry in self.control("GET", "journal")))
