//! `cutline token create|list|revoke STORE`

use crate::args::{Format, TokenCommand, TokenCreate, TokenList};
use crate::failure::Failure;
use crate::print::{cell, json_rows, left, note, table};
use crate::table::{Column, Table};
use cutline_campaign::rfc3339;
use cutline_server::{CreateTokenError, ServerError, create_token};
use cutline_store::{Role, Store, Token};
use serde::Serialize;
use std::io::Write;

pub(crate) fn token(command: &TokenCommand) -> Result<(), Failure> {
    match command {
        TokenCommand::Create(args) => create(args),
        TokenCommand::List(args) => list(args),
        TokenCommand::Revoke(args) => {
            Store::open(&args.store)?.revoke_token(&args.name)?;
            note(&format!("revoked the token `{}`", args.name));
            Ok(())
        }
    }
}

fn create(args: &TokenCreate) -> Result<(), Failure> {
    let role = Role::named(&args.role).unwrap_or(Role::Viewer);
    let campaigns = (!args.campaign.is_empty()).then(|| args.campaign.clone());
    let secret =
        create_token(&Store::create(&args.store)?, &args.name, role, campaigns).map_err(|error| match error {
            CreateTokenError::Store(error) => Failure::Store(error),
            error => Failure::Server(ServerError::Token(error)),
        })?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{secret}")?;
    out.flush()?;
    note(&format!("the token `{}` with the role `{}`: keep it, it cannot be shown again", args.name, role.name()));
    Ok(())
}

/// A token as a JSON object.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    role: &'static str,
    campaigns: Option<&'a [String]>,
    created: String,
    revoked: Option<String>,
}

fn list(args: &TokenList) -> Result<(), Failure> {
    let tokens = Store::open(&args.store)?.tokens()?;
    let campaigns = |token: &Token| token.campaigns.as_ref().map(|names| names.join(", "));
    let revoked = |token: &Token| token.revoked.map(rfc3339);
    let text = |of: &dyn Fn(&Token) -> Option<String>| Column::Text(tokens.iter().map(of).collect());
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Json => json_rows(
            &mut out,
            tokens.iter().map(|token| Row {
                name: &token.name,
                role: token.role.name(),
                campaigns: token.campaigns.as_deref(),
                created: rfc3339(token.created),
                revoked: revoked(token),
            }),
        )?,
        Format::Csv => Table::default()
            .with("name", text(&|token| Some(token.name.clone())))
            .with("role", text(&|token| Some(token.role.name().into())))
            .with("campaigns", text(&campaigns))
            .with("created", text(&|token| Some(rfc3339(token.created))))
            .with("revoked", text(&revoked))
            .write_csv(&mut out)?,
        Format::Table => {
            let mut rows = left(table(&["name", "role", "campaigns", "created", "revoked"]), &[1, 2, 3, 4]);
            for token in &tokens {
                let for_campaigns = cell(&campaigns(token).unwrap_or_else(|| "all".into()));
                let role = token.role.name().to_owned();
                let revoked = revoked(token).unwrap_or_default();
                rows.add_row([cell(&token.name), role, for_campaigns, rfc3339(token.created), revoked]);
            }
            writeln!(out, "{rows}")?;
        }
    }
    out.flush()?;
    Ok(())
}
