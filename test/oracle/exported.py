"""Reads an exported folder with Hugging Face's own libraries and writes on, byte by byte, the likeliest one each time.

    pip install 'transformers==4.36.2' 'peft==0.7.1' 'numpy<2'        (with torch 1.13 or newer; outside of this repository)
    python exported.py FOLDER PROMPT TOKENS

Adapters in FOLDER/adapter are put beside the base; each of their tensors must have a place in the model. The text is that of
`meshwright sample --temperature 0`.
"""

import os
import sys

import torch
from transformers import AutoModelForCausalLM


def read(folder):
    model = AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.float32)
    adapter = os.path.join(folder, "adapter")
    if not os.path.isdir(adapter):
        return model
    from peft import PeftModel
    from safetensors.torch import load_file

    adapted = PeftModel.from_pretrained(model, adapter)
    places = dict(adapted.named_parameters())
    for name, tensor in load_file(os.path.join(adapter, "adapter_model.safetensors")).items():
        place = name.replace(".weight", ".default.weight")
        if place not in places or not torch.equal(places[place], tensor):
            sys.exit(f"{name} has no place in the model, or lost its values")
    return adapted


def write_on(model, prompt, count):
    tokens = torch.tensor([list(prompt.encode())])
    with torch.no_grad():
        for _ in range(count):
            likeliest = model(tokens).logits[0, -1].argmax()
            tokens = torch.cat([tokens, likeliest.view(1, 1)], 1)
    return bytes(tokens[0].tolist()).decode("utf-8", "replace")


if __name__ == "__main__":
    folder, prompt, count = sys.argv[1:]
    print(write_on(read(folder).eval(), prompt, int(count)))
