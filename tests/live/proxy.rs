//! A proxy that writes down whom it is asked for, and either forwards or refuses.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// A proxy on a port of its own; it lives as long as the test.
pub(crate) struct Proxy {
    pub(crate) url: String,
    asked: Receiver<String>,
}

impl Proxy {
    /// Forwards `CONNECT` when `forward` says so, and refuses everything else with 403.
    pub(crate) fn start(forward: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, asked) = channel();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                thread::spawn(move || {
                    let Some((request, head)) = head_of(&client) else { return };
                    // The test may be over.
                    let _ = sender.send(head);
                    let mut words = request.split_whitespace();
                    match (words.next(), words.next()) {
                        (Some("CONNECT"), Some(target)) if forward => tunnel(client, target),
                        _ => {
                            let _ = (&client)
                                .write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                        }
                    }
                });
            }
        });
        Self { url, asked }
    }

    /// The request heads so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.try_iter().collect()
    }
}

fn head_of(client: &TcpStream) -> Option<(String, String)> {
    let mut lines = BufReader::new(client).lines();
    let request = lines.next()?.ok()?;
    let mut head = request.clone();
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        head.push('\n');
        head.push_str(&line);
    }
    Some((request, head))
}

fn tunnel(client: TcpStream, target: &str) {
    let server = TcpStream::connect(target).unwrap();
    (&client).write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
    let (mut up, mut down) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let (mut from_client, mut from_server) = (client, server);
    thread::spawn(move || std::io::copy(&mut from_client, &mut up));
    let _ = std::io::copy(&mut from_server, &mut down);
}
