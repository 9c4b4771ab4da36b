"""The models of the runtime in PyTorch: reads a request as JSON on standard input, trains, and answers as JSON.

Weights come under Hugging Face names, as the runtime starts from them. Everything is computed in float64, so that what
differs is the runtime's."""
import json
import sys

import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def attend(q, k, v):
    """Causal attention; [batch, heads, length, size]. Grouped queries repeat their keys and values."""
    share = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(share, 1), v.repeat_interleave(share, 1)
    length = q.shape[2]
    future = torch.ones(length, length).triu(1).bool()
    scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    o = scores.masked_fill(future, float("-inf")).softmax(-1) @ v
    return o.transpose(1, 2).flatten(2)


def gpt2(w, tokens, sizes):
    heads, epsilon = sizes["heads"], sizes["epsilon"]
    width = w["transformer.wte.weight"].shape[1]
    x = w["transformer.wte.weight"][tokens] + w["transformer.wpe.weight"][: tokens.shape[1]]
    norm = lambda x, name: F.layer_norm(x, (width,), w[name + ".weight"], w[name + ".bias"], epsilon)
    linear = lambda x, name: x @ w[name + ".weight"] + w[name + ".bias"]
    for layer in range(sizes["layers"]):
        at = f"transformer.h.{layer}."
        qkv = linear(norm(x, at + "ln_1"), at + "attn.c_attn")
        q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in qkv.split(width, -1))
        x = x + linear(attend(q, k, v), at + "attn.c_proj")
        x = x + linear(F.gelu(linear(norm(x, at + "ln_2"), at + "mlp.c_fc"), approximate="tanh"), at + "mlp.c_proj")
    return norm(x, "transformer.ln_f") @ w["transformer.wte.weight"].T


def rotated(x, theta):
    """Half-split rotary positions."""
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[2])[:, None] * theta ** (-torch.arange(half) / half)
    low, high = x[..., :half], x[..., half:]
    return torch.cat((low * angle.cos() - high * angle.sin(), high * angle.cos() + low * angle.sin()), -1)


def llama(w, tokens, sizes):
    def norm(x, name):
        return x * (x.pow(2).mean(-1, keepdim=True) + sizes["epsilon"]).rsqrt() * w[name + ".weight"]

    linear = lambda x, name: F.linear(x, w[name + ".weight"])
    x = w["model.embed_tokens.weight"][tokens]
    for layer in range(sizes["layers"]):
        at = f"model.layers.{layer}."
        n = norm(x, at + "input_layernorm")
        split = lambda name, heads: linear(n, at + "self_attn." + name).unflatten(-1, (heads, -1)).transpose(1, 2)
        q, k, v = split("q_proj", sizes["heads"]), split("k_proj", sizes["kvHeads"]), split("v_proj", sizes["kvHeads"])
        o = attend(rotated(q, sizes["theta"]), rotated(k, sizes["theta"]), v)
        x = x + linear(o, at + "self_attn.o_proj")
        n = norm(x, at + "post_attention_layernorm")
        gate, up = linear(n, at + "mlp.gate_proj"), linear(n, at + "mlp.up_proj")
        x = x + linear(F.silu(gate) * up, at + "mlp.down_proj")
    return linear(norm(x, "model.norm"), "lm_head")


def main():
    request = json.load(sys.stdin)
    weights = {
        name: torch.tensor(each["values"]).reshape(each["shape"]).requires_grad_()
        for name, each in request["weights"].items()
    }
    step = request["adamw"]
    groups = [
        {"params": [weights[name] for name in weights if (name in request["decays"]) == decays], "weight_decay": decay}
        for decays, decay in ((True, step["weightDecay"]), (False, 0.0))
    ]
    betas = (step["beta1"], step["beta2"])
    optimizer = torch.optim.AdamW([group for group in groups if group["params"]], betas=betas, eps=step["epsilon"])
    forward = {"gpt2": gpt2, "llama": llama}[request["kind"]]
    losses, norms, gradients = [], [], {}
    for batch, rate in zip(request["batches"], request["rates"]):
        tokens = torch.tensor(batch)
        logits = forward(weights, tokens[:, :-1], request["sizes"])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        if not losses:
            gradients = {name: value.grad.flatten().tolist() for name, value in weights.items()}
        norm = torch.stack([value.grad.norm() for value in weights.values()]).norm()
        for value in weights.values():
            value.grad.mul_(min(1.0, request["clip"] / norm.item()))
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        losses.append(loss.item())
        norms.append(norm.item())
    parameters = {name: value.flatten().tolist() for name, value in weights.items()}
    json.dump({"losses": losses, "norms": norms, "gradients": gradients, "parameters": parameters}, sys.stdout)


main()
