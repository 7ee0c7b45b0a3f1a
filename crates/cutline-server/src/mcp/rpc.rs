//! JSON-RPC 2.0, one message per line.

use serde_json::{Map, Value, json};
use std::io::{BufRead, Read, Write};

/// A request, or a notification if it has no id.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) id: Option<Value>,
    pub(super) method: String,
    pub(super) params: Value,
}

/// Why a request has no result.
#[derive(Debug, PartialEq)]
pub(super) enum RpcError {
    NotJson(String),
    NotARequest(String),
    NoMethod(String),
    BadParams(String),
}

/// The answer to a request.
pub(super) struct Reply {
    pub(super) id: Value,
    pub(super) result: Result<Value, RpcError>,
}

impl RpcError {
    fn code_and_message(&self) -> (i32, String) {
        match self {
            Self::NotJson(what) => (-32700, format!("the line is not JSON: {what}")),
            Self::NotARequest(what) => (-32600, what.clone()),
            Self::NoMethod(method) => (-32601, format!("there is no method `{method}`")),
            Self::BadParams(what) => (-32602, what.clone()),
        }
    }
}

/// The next message; `None` at the end of the input. Empty lines and answers, for which nobody asked, are skipped.
pub(super) fn read(input: &mut impl BufRead, longest: usize) -> std::io::Result<Option<Result<Request, RpcError>>> {
    loop {
        let mut line = Vec::new();
        let most = u64::try_from(longest).unwrap_or(u64::MAX);
        if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.len() == longest && !line.ends_with(b"\n") {
            skip_line(input)?;
            return Ok(Some(Err(RpcError::NotARequest(format!("the line has more than {longest} bytes")))));
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Err(error) => return Ok(Some(Err(RpcError::NotJson(error.to_string())))),
            Ok(Value::Object(message)) if !message.contains_key("method") && is_answer(&message) => (),
            Ok(message) => return Ok(Some(request(message))),
        }
    }
}

fn is_answer(message: &Map<String, Value>) -> bool {
    message.contains_key("result") || message.contains_key("error")
}

/// Skips the rest of a line.
fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let part = input.fill_buf()?;
        let end = part.iter().position(|&byte| byte == b'\n');
        let (n, is_end) = (end.map_or(part.len(), |end| end + 1), end.is_some() || part.is_empty());
        input.consume(n);
        if is_end {
            return Ok(());
        }
    }
}

fn request(message: Value) -> Result<Request, RpcError> {
    let bad = |what: &str| RpcError::NotARequest(what.into());
    let Value::Object(mut message) = message else {
        return Err(bad("a message is a JSON object; batches are not supported"));
    };
    if message.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(bad("`jsonrpc` must be \"2.0\""));
    }
    let Some(Value::String(method)) = message.remove("method") else { return Err(bad("`method` must be a text")) };
    let id = message.remove("id");
    if id.as_ref().is_some_and(|id| !id.is_string() && !id.is_number()) {
        return Err(bad("`id` must be a text or a number"));
    }
    Ok(Request { id, method, params: message.remove("params").unwrap_or_default() })
}

/// Writes an answer as one line.
pub(super) fn write(output: &mut impl Write, reply: &Reply) -> std::io::Result<()> {
    let mut message = match &reply.result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": reply.id, "result": result}),
        Err(error) => {
            let (code, message) = error.code_and_message();
            json!({"jsonrpc": "2.0", "id": reply.id, "error": {"code": code, "message": message}})
        }
    }
    .to_string();
    message.push('\n');
    output.write_all(message.as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Result<Request, RpcError>> {
        let mut input = text.as_bytes();
        std::iter::from_fn(|| read(&mut input, 60).unwrap()).collect()
    }

    #[test]
    fn messages_are_lines() {
        let read = all(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n{\"id\":3,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"method\":\"n\"}",
        );
        let expected = |id, method: &str| Ok(Request { id, method: method.into(), params: Value::Null });
        assert_eq!(read, [expected(Some(json!(1)), "ping"), expected(None, "n")]);
    }

    #[test]
    fn what_is_not_a_request_is_refused_and_skipped() {
        let long = format!("{}\n", "x".repeat(200));
        let text =
            ["{\n", "[]\n", "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}\n", "{\"method\":1}\n", &long, "7\n"]
                .concat();
        let read = all(&text);
        assert_eq!(read.len(), 6);
        assert!(matches!(read[0], Err(RpcError::NotJson(_))));
        assert!(read[1..].iter().all(|read| matches!(read, Err(RpcError::NotARequest(_)))), "{read:?}");
    }
}
