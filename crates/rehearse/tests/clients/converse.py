"""Holds a streaming tool-use conversation on each wire with the official packages.

Usage: converse.py ANTHROPIC_BASE_URL RESPONSES_BASE_URL CHAT_BASE_URL

Every surprise is an exception, and with it a non-zero exit code. The script that the server follows is script.json
beside this file.
"""

import json
import sys

import anthropic
import openai

SYSTEM = "Be brief."
QUESTION = "What is the weather in Oslo and Bergen?"
INTRODUCTION = "I will look at both towns for you – one moment, please."
ANSWER = "It is 21 degrees in Oslo 😀; Bergen did not answer."
SCHEMA = {
    "type": "object",
    "properties": {"town": {"type": "string"}, "unit": {"type": "string"}},
    "required": ["town"],
}


def same(found, expected):
    if found != expected:
        raise AssertionError(f"found {found!r}, expected {expected!r}")


def weather(arguments):
    """The tool: whether it worked, and what it says."""
    same(arguments["unit"], "celsius")
    if arguments["town"] == "Oslo":
        return True, "Oslo: 21 degrees"
    return False, "no such station"


def messages(base_url):
    client = anthropic.Anthropic(base_url=base_url, api_key="none", max_retries=0)
    common = {
        "model": "model-a",
        "max_tokens": 1000,
        "system": SYSTEM,
        "metadata": {"user_id": "anthropic"},
        "tools": [{"name": "weather", "description": "The weather of a town.", "input_schema": SCHEMA}],
    }
    history = [{"role": "user", "content": QUESTION}]

    with client.messages.stream(messages=history, **common) as stream:
        text = "".join(stream.text_stream)
        first = stream.get_final_message()
    same(text, INTRODUCTION)
    same([block.type for block in first.content], ["thinking", "text", "tool_use", "tool_use"])
    same((first.content[0].thinking, first.content[0].signature), ("Two towns, so two calls at once.", "c2VhbGVk"))
    same((first.stop_reason, first.usage.output_tokens, first.usage.cache_read_input_tokens), ("tool_use", 40, 7))

    history.append({"role": "assistant", "content": [block.to_dict() for block in first.content]})
    results = []
    for call in first.content[2:]:
        worked, told = weather(call.input)
        results.append({"type": "tool_result", "tool_use_id": call.id, "content": told, "is_error": not worked})
    history.append({"role": "user", "content": results})

    with client.messages.stream(messages=history, **common) as stream:
        text = "".join(stream.text_stream)
        second = stream.get_final_message()
    same((text, second.stop_reason), (ANSWER, "end_turn"))

    history.append({"role": "assistant", "content": [block.to_dict() for block in second.content]})
    history.append({"role": "user", "content": "Thanks!"})
    third = client.messages.create(messages=history, **common)
    same((third.content[0].text, third.stop_reason), ("You are welcome.", "max_tokens"))

    same([model.id for model in client.models.list()], ["model-a", "model-b"])
    counted = client.messages.count_tokens(model="model-a", messages=history)
    same(counted.input_tokens > 0, True)
    try:
        client.messages.create(messages=[{"role": "user", "content": " "}], model="model-a", max_tokens=1)
    except anthropic.BadRequestError as error:
        same("non-whitespace" in error.message, True)
    else:
        raise AssertionError("an empty text was accepted")

    patient = anthropic.Anthropic(base_url=base_url, api_key="none", max_retries=1)
    headers = {"x-rehearse-conversation": "retry"}
    reply = patient.messages.create(
        model="model-a", max_tokens=10, messages=[{"role": "user", "content": "hi"}], extra_headers=headers
    )
    same(reply.content[0].text, "Second try.")


def responses(base_url):
    client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
    common = {
        "model": "model-b",
        "instructions": SYSTEM,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "responses",
        "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}],
    }
    history = [{"role": "user", "content": QUESTION}]

    with client.responses.stream(input=history, **common) as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        first = stream.get_final_response()
    same(("".join(deltas), first.output_text), (INTRODUCTION, INTRODUCTION))
    same([item.type for item in first.output], ["reasoning", "message", "function_call", "function_call"])
    same(first.output[0].encrypted_content, "c2VhbGVk")
    same((first.usage.output_tokens, first.usage.input_tokens_details.cached_tokens), (40, 7))

    history += [carried(item) for item in first.output]
    for call in first.output[2:]:
        _, told = weather(json.loads(call.arguments))
        history.append({"type": "function_call_output", "call_id": call.call_id, "output": told})

    with client.responses.stream(input=history, **common) as stream:
        stream.until_done()
        second = stream.get_final_response()
    same((second.output_text, second.status), (ANSWER, "completed"))

    history += [carried(item) for item in second.output]
    history.append({"role": "user", "content": "Thanks!"})
    third = client.responses.create(input=history, **common)
    same((third.output_text, third.status), ("You are welcome.", "incomplete"))
    same(third.incomplete_details.reason, "max_output_tokens")

    same([model.id for model in client.models.list()], ["model-a", "model-b"])
    try:
        client.responses.create(model="model-b", input=[{"type": "function_call_output", "call_id": "x", "output": "y"}])
    except openai.BadRequestError as error:
        same("input" in error.message, True)
    else:
        raise AssertionError("an output without a call was accepted")


def carried(item):
    """The item as it goes back: what the service made up for parsing stays away."""
    kept = item.to_dict(exclude_unset=True)
    kept.pop("parsed_arguments", None)
    for part in kept.get("content") or []:
        part.pop("parsed", None)
    return kept


def chat(base_url):
    client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
    function = {"name": "weather", "parameters": SCHEMA}
    common = {"model": "model-b", "user": "chat", "tools": [{"type": "function", "function": function}]}
    history = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]

    options = {"include_usage": True}
    with client.chat.completions.stream(messages=history, stream_options=options, **common) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        first = stream.get_final_completion()
    message = first.choices[0].message
    same(("".join(deltas), message.content), (INTRODUCTION, INTRODUCTION))
    same((first.choices[0].finish_reason, first.usage.completion_tokens), ("tool_calls", 40))
    same([call.function.name for call in message.tool_calls], ["weather", "weather"])

    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
        for call in message.tool_calls
    ]
    history.append({"role": "assistant", "content": message.content, "tool_calls": calls})
    for call in message.tool_calls:
        _, told = weather(json.loads(call.function.arguments))
        history.append({"role": "tool", "tool_call_id": call.id, "content": told})

    parts = []
    for chunk in client.chat.completions.create(messages=history, stream=True, **common):
        parts += [choice.delta.content or "" for choice in chunk.choices]
    same("".join(parts), ANSWER)

    history += [{"role": "assistant", "content": ANSWER}, {"role": "user", "content": "Thanks!"}]
    third = client.chat.completions.create(messages=history, **common)
    same((third.choices[0].message.content, third.choices[0].finish_reason), ("You are welcome.", "length"))


def main():
    anthropic_url, responses_url, chat_url = sys.argv[1:]
    messages(anthropic_url)
    responses(responses_url)
    chat(chat_url)
    print("three wires, three conversations")


main()
