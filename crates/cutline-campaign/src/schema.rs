//! The settings in the document about the API: what requests may contain, from the fields of [`Settings`] and [`Settings::LIST`].

use crate::settings::CONFIDENCE;
use crate::{Setting, Settings};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{Object, Schema};
use utoipa::openapi::{ObjectBuilder, RefOr, Required, Type};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// The settings of a new campaign, as a [`Change`](crate::Change) has them: as JSON, and as parameters of an address.
#[derive(Clone, Copy, Debug)]
pub struct NewSettingsSchema;

/// The settings that may change, as a [`Change`](crate::Change) has them.
#[derive(Clone, Copy, Debug)]
pub struct ChangeSchema;

/// Some of the settings as properties of an object, of which none is required.
fn properties(is_included: impl Fn(&Setting) -> bool) -> Object {
    let RefOr::T(Schema::Object(mut object)) = Settings::schema() else { return Object::new() };
    object.required.clear();
    object.additional_properties = None;
    object.description = None;
    let confidence = ObjectBuilder::new()
        .schema_type(Type::Number)
        .description(Some("The probability that an interval contains the mean, in place of `delta`."))
        .examples([serde_json::json!(0.95)]);
    object.properties.insert(CONFIDENCE.into(), Schema::Object(confidence.build()).into());
    object.properties.retain(|key, _| Setting::of(key).is_ok_and(&is_included));
    object
}

impl PartialSchema for NewSettingsSchema {
    fn schema() -> RefOr<Schema> {
        Schema::Object(properties(|_| true)).into()
    }
}

impl PartialSchema for ChangeSchema {
    fn schema() -> RefOr<Schema> {
        Schema::Object(properties(|setting| setting.may_change)).into()
    }
}

impl ToSchema for NewSettingsSchema {
    fn name() -> std::borrow::Cow<'static, str> {
        "NewSettings".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Settings::schemas(schemas);
    }
}

impl ToSchema for ChangeSchema {
    fn name() -> std::borrow::Cow<'static, str> {
        "Change".into()
    }
}

impl IntoParams for NewSettingsSchema {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let texts = properties(|setting| setting.kind.is_text()).properties;
        let parameter = |(key, schema): (String, RefOr<Schema>)| {
            let description =
                if let RefOr::T(Schema::Object(object)) = &schema { object.description.clone() } else { None };
            ParameterBuilder::new()
                .name(key)
                .parameter_in(ParameterIn::Query)
                .required(Required::False)
                .description(description)
                .schema(Some(schema))
                .build()
        };
        texts.into_iter().map(parameter).collect()
    }
}
