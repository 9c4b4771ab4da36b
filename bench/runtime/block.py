"""Forward and backward of one GPT block on one thread: prints processor seconds (median of five runs), the version, and whether
its matrix products are those of an OpenBLAS library. With `ddp PORT RANK` two ranks train three such blocks under DDP over Gloo:
rank 0 prints wall and processor seconds of a step; with `reduce PORT RANK` they all-reduce 16 MB."""
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
WIDTH, HEADS, LENGTH, BATCH = 512, 8, 256, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        # Not a buffer: DDP would send it, and Gloo sends no booleans.
        self.future = torch.ones(LENGTH, LENGTH).triu(1).bool()

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2)) * (WIDTH // HEADS) ** -0.5
        o = scores.masked_fill(self.future[:length, :length], float("-inf")).softmax(-1) @ v
        x = x + self.proj(o.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Model(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(3)))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        return self.norm(self.blocks(x)) @ self.tokens.weight.t()


def block():
    one = Block()
    x = torch.randn(BATCH, LENGTH, WIDTH, requires_grad=True)
    times = []
    for _ in range(6):
        start = time.process_time()
        one(x).sum().backward()
        times.append(time.process_time() - start)
    with open("/proc/self/maps") as maps:
        library = "openblas" if "openblas" in maps.read() else "another library"
    print(statistics.median(times[1:]), torch.__version__, library)


def medians(run, each):
    """Wall and processor seconds of a run: medians of 7 samples of `each` runs."""
    for _ in range(3):
        run()
    walls, used = [], []
    for _ in range(7):
        wall, processor = time.perf_counter(), time.process_time()
        for _ in range(each):
            run()
        walls.append((time.perf_counter() - wall) / each)
        used.append((time.process_time() - processor) / each)
    return statistics.median(walls), statistics.median(used)


def ddp():
    vocabulary = 256
    model = nn.parallel.DistributedDataParallel(Model(vocabulary))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    ids = torch.randint(vocabulary, (2, LENGTH + 1))

    def step():
        optimizer.zero_grad()
        F.cross_entropy(model(ids[:, :-1]).reshape(-1, vocabulary), ids[:, 1:].reshape(-1)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return medians(step, 1)


def reduce():
    values = torch.ones(4_000_000)
    return medians(lambda: dist.all_reduce(values), 5)


if len(sys.argv) == 1:
    block()
else:
    what, port, rank = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    result = ddp() if what == "ddp" else reduce()
    if rank == 0:
        print(*result)
