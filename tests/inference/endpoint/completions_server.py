"""A completions server on loopback with a real model, that answers as vLLM and its like do; and can misbehave."""

from __future__ import annotations

import json
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

KEY = "sk-a-key-that-must-not-be-seen"
SERVED = "org/served"
KNOWN_FIELDS = {"model", "prompt", "max_tokens", "temperature", "stream", "echo", "logprobs"}


@dataclass
class Served:
    """What the server can do. styles: of its replies. strict: refuses fields that OpenAI's API has not. ids: returns
    prompt_token_ids. lists: takes several prompts. shifted: gives each token the log-probability of the next.
    misbehave: called with the handler and the request's body (None for GET); True where it answered itself. change: of
    each reply before it is sent.
    """

    model: Path
    styles: tuple[str, ...] = ("tokens",)
    strict: bool = False
    ids: bool = False
    lists: bool = True
    status_of_lists: int = 400
    shifted: bool = False
    least_tokens: int = 0
    most_tokens: int = 1
    key: str = ""
    longest: int = 64
    certificate: Path | None = None  # with its private key, for https
    version: str = "0.99.1"
    root: str = "/weights/one"
    misbehave: Callable[[BaseHTTPRequestHandler, dict[str, Any] | None], bool] = lambda handler, body: False
    change: Callable[[dict[str, Any]], dict[str, Any]] = lambda reply: reply
    bodies: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0
    address: str = ""


@contextmanager
def completions_server(model: Path, **abilities: Any) -> Iterator[Served]:
    """The server, at `address`, until the end of the block."""
    served = Served(model, **abilities)
    tokenizer = AutoTokenizer.from_pretrained(model)
    network = AutoModelForCausalLM.from_pretrained(model).eval()
    lock, at_once = threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if served.misbehave(self, None):
                return
            if self.path == "/v1/models":
                send_json(
                    self,
                    200,
                    {
                        "object": "list",
                        "data": [
                            {
                                "id": SERVED,
                                "object": "model",
                                "created": id(object()),
                                "owned_by": "vllm",
                                "root": served.root,
                                "max_model_len": served.longest,
                                "permission": [{"id": "x"}],
                            }
                        ],
                    },
                )
            elif self.path == "/version" and served.version:
                send_json(self, 200, {"version": served.version})
            else:
                send_json(self, 404, {"detail": "Not Found"})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                served.bodies.append(body)
                at_once[0] += 1
                served.most_at_once = max(served.most_at_once, at_once[0])
            try:
                if not served.misbehave(self, body):
                    send_json(self, *self.answered(body))
            finally:
                with lock:
                    at_once[0] -= 1

        def answered(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
            if served.key and self.headers.get("Authorization") != f"Bearer {served.key}":
                return 401, {"error": {"message": f"wrong key {self.headers.get('Authorization')}"}}
            if body["model"] != SERVED:
                return 404, {"error": {"message": "no such model"}}
            unknown = set(body) - KNOWN_FIELDS
            if served.strict and unknown:
                return 400, {"error": {"message": f"unknown fields: {sorted(unknown)}"}}
            if body["max_tokens"] < served.least_tokens:
                return 400, {"error": {"message": "max_tokens must be at least 1"}}
            if body["max_tokens"] > served.most_tokens:
                return 400, {"error": {"message": "max_tokens must be 0"}}
            texts = [body["prompt"]] if isinstance(body["prompt"], str) else body["prompt"]
            if len(texts) > 1 and not served.lists:
                return served.status_of_lists, {"error": {"message": "prompt must be a string"}}
            special = body.get("add_special_tokens", True)
            encoded = [tokenizer(text, add_special_tokens=special)["input_ids"] for text in texts]
            for ids in encoded:
                if len(ids) > served.longest:
                    return 400, {
                        "error": {
                            "message": f"the maximum context length is {served.longest} tokens, "
                            f"the prompt has {len(ids)}"
                        }
                    }
            with lock:
                choices = [self.choice(i, ids, body) for i, ids in enumerate(encoded)]
            return 200, served.change(
                {
                    "id": "cmpl-1",
                    "object": "text_completion",
                    "model": SERVED,
                    "choices": choices,
                    "usage": {"prompt_tokens": sum(map(len, encoded)), "completion_tokens": len(texts)},
                }
            )

        def choice(self, index: int, ids: list[int], body: dict[str, Any]) -> dict[str, Any]:
            with torch.inference_mode():
                log_probabilities = network(torch.tensor([ids])).logits[0].log_softmax(-1)
            generated = int(log_probabilities[-1].argmax())
            own = [None, *(float(log_probabilities[i, token]) for i, token in enumerate(ids[1:]))]
            if served.shifted:
                own = [None, *(float(log_probabilities[i + 1, token]) for i, token in enumerate(ids[1:]))]
            names = [tokenizer.decode([token]) for token in ids]
            shown, values = (names, own) if body.get("echo") else ([], [])
            if body["max_tokens"]:
                shown, values = (
                    [*shown, tokenizer.decode([generated])],
                    [*values, float(log_probabilities[-1, generated])],
                )
            choice: dict[str, Any] = {"index": index, "text": "", "finish_reason": "length", "logprobs": None}
            if body.get("logprobs") is not None and "tokens" in served.styles:
                offsets = [sum(map(len, shown[:i])) for i in range(len(shown))]
                choice["logprobs"] = {"tokens": shown, "token_logprobs": values, "text_offset": offsets}
            elif body.get("logprobs") is not None and "content" in served.styles:
                choice["logprobs"] = {
                    "content": [
                        {"token": token, "logprob": value, "bytes": list(str(token).encode())}
                        for token, value in zip(shown, values, strict=True)
                    ]
                }
            if body.get("prompt_logprobs") is not None and "prompt_logprobs" in served.styles:
                choice["prompt_logprobs"] = [
                    None,
                    *(
                        {str(token): {"logprob": value, "rank": 3, "decoded_token": name}}
                        for token, value, name in zip(ids[1:], own[1:], names[1:], strict=True)
                    ),
                ]
            if served.ids and body.get("return_token_ids"):
                choice["prompt_token_ids"] = ids
            return choice

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            if not isinstance(sys.exception(), OSError):  # the client hung up, as some tests have it do
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if served.certificate is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(served.certificate)
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    served.address = f"http{'s' * (served.certificate is not None)}://127.0.0.1:{server.server_port}/v1"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send_json(handler: BaseHTTPRequestHandler, status: int, value: object, **headers: str) -> None:
    """Send a reply."""
    send_bytes(handler, status, json.dumps(value).encode(), "application/json", **headers)


def send_bytes(handler: BaseHTTPRequestHandler, status: int, content: bytes, media_type: str, **headers: str) -> None:
    """Send a reply of any kind."""
    handler.send_response(status)
    for name, value in {"Content-Type": media_type, "Content-Length": str(len(content)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(content)
