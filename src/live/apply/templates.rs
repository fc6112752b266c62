//! Launch templates.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;

use super::template_data::{request as data_request, tags};
use super::{Session, failures};
use crate::diff::{LaunchTemplateBefore, VersionRef};
use crate::error::ChangeError;
use crate::live::aws::map_template;
use crate::render::{CreateLaunchTemplate, CreateLaunchTemplateVersion};

/// How EC2 answers a dry run that would succeed. Source: EC2 API reference, "Common query parameters", `DryRun`.
const DRY_RUN_ACCEPTED: &str = "DryRunOperation";
/// Versions that one call deletes. Source: EC2 API reference, `DeleteLaunchTemplateVersions`, `LaunchTemplateVersion`.
const DELETED_AT_ONCE: usize = 200;

impl Session<'_> {
    pub(super) async fn create_launch_template(
        &self,
        node_group: &str,
        request: &CreateLaunchTemplate,
        client_token: &str,
    ) -> Result<String, ChangeError> {
        const OPERATION: &str = "ec2:CreateLaunchTemplate";
        let CreateLaunchTemplate {
            launch_template_name,
            version_description,
            launch_template_data,
            tag_specifications,
        } = request;
        let object = format!("launch template {launch_template_name}");
        let found = self
            .clients
            .ec2
            .describe_launch_templates()
            .filters(
                aws_sdk_ec2::types::Filter::builder().name("launch-template-name").values(launch_template_name).build(),
            )
            .send()
            .await
            .map_err(|error| failures::aws(&error, "ec2:DescribeLaunchTemplates", &object))?;
        if let Some(template) = found.launch_templates.unwrap_or_default().into_iter().next() {
            let id = template.launch_template_id.unwrap_or_default();
            return Err(failures::existence(&object, "none", &id));
        }
        let answer = self
            .clients
            .ec2
            .create_launch_template()
            .set_dry_run(self.options.dry_run.then_some(true))
            .client_token(client_token)
            .launch_template_name(launch_template_name)
            .version_description(version_description)
            .launch_template_data(data_request(launch_template_data)?)
            .set_tag_specifications(Some(tags(tag_specifications)))
            .send()
            .await;
        let template = match answer {
            Ok(answer) => answer.launch_template.and_then(|raw| map_template::launch_template(raw).ok()),
            Err(error) => return self.dry_or(&error, OPERATION, &object),
        };
        let template = template.ok_or_else(|| unreadable(OPERATION, &object))?;
        self.remember(node_group, &LaunchTemplateBefore::of(&template), template.latest_version_number);
        Ok(format!("{}, version {}", template.launch_template_id, template.latest_version_number))
    }

    pub(super) async fn create_launch_template_version(
        &self,
        node_group: &str,
        request: &CreateLaunchTemplateVersion,
        before: &LaunchTemplateBefore,
        client_token: &str,
    ) -> Result<String, ChangeError> {
        const OPERATION: &str = "ec2:CreateLaunchTemplateVersion";
        let CreateLaunchTemplateVersion {
            launch_template_id,
            source_version,
            version_description,
            launch_template_data,
        } = request;
        let object = format!("launch template {launch_template_id}");
        let now = self.unmoved_template(before).await?;
        let answer = self
            .clients
            .ec2
            .create_launch_template_version()
            .set_dry_run(self.options.dry_run.then_some(true))
            .client_token(client_token)
            .launch_template_id(launch_template_id)
            .set_source_version(source_version.clone())
            .version_description(version_description)
            .launch_template_data(data_request(launch_template_data)?)
            .send()
            .await;
        let number = match answer {
            Ok(answer) => answer.launch_template_version.and_then(|version| version.version_number),
            Err(error) => return self.dry_or(&error, OPERATION, &object),
        };
        let number = number.ok_or_else(|| unreadable(OPERATION, &object))?;
        self.remember(node_group, &LaunchTemplateBefore { latest_version_number: number, ..now }, number);
        Ok(format!("version {number}"))
    }

    pub(super) async fn set_default_version(
        &self,
        launch_template_id: &str,
        to: &VersionRef,
        before: &LaunchTemplateBefore,
    ) -> Result<String, ChangeError> {
        const OPERATION: &str = "ec2:ModifyLaunchTemplate";
        let object = format!("launch template {launch_template_id}");
        let number = self.number(to)?;
        let now = self.unmoved_template(before).await?;
        let answer = self
            .clients
            .ec2
            .modify_launch_template()
            .set_dry_run(self.options.dry_run.then_some(true))
            .launch_template_id(launch_template_id)
            .default_version(number.to_string())
            .send()
            .await;
        if let Err(error) = answer {
            return self.dry_or(&error, OPERATION, &object);
        }
        let now = LaunchTemplateBefore { default_version_number: number, ..now };
        self.templates.borrow_mut().insert(launch_template_id.to_owned(), now);
        Ok(format!("version {number} is the default"))
    }

    pub(super) async fn delete_launch_template_versions(
        &self,
        launch_template_id: &str,
        versions: &[i64],
        before: &LaunchTemplateBefore,
    ) -> Result<String, ChangeError> {
        const OPERATION: &str = "ec2:DeleteLaunchTemplateVersions";
        let object = format!("launch template {launch_template_id}");
        self.unmoved_template(before).await?;
        for chunk in versions.chunks(DELETED_AT_ONCE) {
            let answer = self
                .clients
                .ec2
                .delete_launch_template_versions()
                .set_dry_run(self.options.dry_run.then_some(true))
                .launch_template_id(launch_template_id)
                .set_versions(Some(chunk.iter().map(ToString::to_string).collect()))
                .send()
                .await;
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => return self.dry_or(&error, OPERATION, &object),
            };
            let kept = answer.unsuccessfully_deleted_launch_template_versions.unwrap_or_default();
            for version in kept {
                let error = version.response_error;
                let code = error.as_ref().and_then(|error| error.code.as_ref()).map(|code| code.as_str().to_owned());
                // A lost answer has deleted it before.
                if code.as_deref() == Some("launchTemplateVersionDoesNotExist") {
                    continue;
                }
                let message = error.and_then(|error| error.message).unwrap_or_default();
                return Err(ChangeError::Refused { operation: OPERATION.into(), object, code, message });
            }
        }
        Ok("deleted".into())
    }

    /// The template as it is now, unless it is another one than before, or than this run has left it.
    async fn unmoved_template(&self, before: &LaunchTemplateBefore) -> Result<LaunchTemplateBefore, ChangeError> {
        const OPERATION: &str = "ec2:DescribeLaunchTemplates";
        let object = format!("launch template {}", before.id);
        let found = self.clients.ec2.describe_launch_templates().launch_template_ids(&before.id).send().await;
        let found = found.map_err(|error| failures::aws(&error, OPERATION, &object))?;
        let template = found.launch_templates.unwrap_or_default().into_iter().next();
        let template = template.and_then(|raw| map_template::launch_template(raw).ok());
        let Some(template) = template else { return Err(failures::existence(&object, "there", "gone")) };
        let now = LaunchTemplateBefore::of(&template);
        let expected = self.templates.borrow().get(&before.id).cloned().unwrap_or_else(|| before.clone());
        failures::unmoved(&object, expected.moved(&now))?;
        Ok(now)
    }

    fn remember(&self, node_group: &str, now: &LaunchTemplateBefore, number: i64) {
        self.made.borrow_mut().insert(node_group.to_owned(), (now.id.clone(), number));
        self.templates.borrow_mut().insert(now.id.clone(), now.clone());
    }

    /// A dry run that would succeed is answered as an error.
    fn dry_or<E>(&self, error: &SdkError<E, HttpResponse>, operation: &str, object: &str) -> Result<String, ChangeError>
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        if self.options.dry_run && failures::code(error).as_deref() == Some(DRY_RUN_ACCEPTED) {
            return Ok("dry run accepted".into());
        }
        Err(failures::aws(error, operation, object))
    }
}

fn unreadable(operation: &str, object: &str) -> ChangeError {
    super::kubernetes::no_answer(operation, object, "the answer lacks what it must have".into())
}
