import { describe, expect, it } from 'vitest';
import { memoryOf } from '../memory/index.ts';
import { joinChunks, memorySnapshot } from './index.ts';
import { unpickle } from './pickle.fixture.ts';
import { tracedToy } from './traced.fixture.ts';

interface TraceEvent {
  readonly action: 'alloc' | 'free_requested' | 'free_completed';
  readonly addr: number;
  readonly size: number;
  readonly time_us: number;
  readonly frames: readonly { readonly name: string; readonly line: number; readonly filename: string }[];
}
interface Snapshot {
  readonly device_traces: readonly (readonly TraceEvent[])[];
  readonly segments: readonly {
    readonly device: number;
    readonly address: number;
    readonly total_size: number;
    readonly allocated_size: number;
    readonly blocks: readonly { readonly address: number; readonly size: number; readonly state: string }[];
  }[];
}

describe('the snapshot of memory', () => {
  for (const sharding of [1, 3] as const) {
    const step = tracedToy({ sharding });
    const snapshot = unpickle(joinChunks(memorySnapshot(step))) as Snapshot;
    const ledger = memoryOf(step.program, step.lists);

    it(`reaches the peak of the ledger on every list, sharding ${sharding}`, () => {
      const peaks = snapshot.device_traces.map((events, device) => {
        let held = snapshot.segments[device]?.allocated_size ?? 0;
        let peak = held;
        for (const { action, size } of events) {
          if (action === 'alloc') held += size;
          if (action === 'free_completed') held -= size;
          peak = Math.max(peak, held);
        }
        expect(held).toBe(ledger.lists[device]?.residentBytes);
        return peak;
      });
      expect(peaks).toEqual(ledger.lists.map(({ peakBytes }) => peakBytes));
    });

    it(`never gives an address to two buffers at a time, sharding ${sharding}`, () => {
      for (const [device, events] of snapshot.device_traces.entries()) {
        const { blocks = [], total_size = 0, address = 0 } = snapshot.segments[device] ?? {};
        const live = new Map(
          blocks.filter(({ state }) => state === 'active_allocated').map((each) => [each.address, each.size]),
        );
        let before = 0;
        for (const { action, addr, size, time_us } of events) {
          expect(time_us).toBeGreaterThanOrEqual(before);
          before = time_us;
          if (action === 'alloc') {
            expect(live.has(addr)).toBe(false);
            expect(blocks.some((block) => block.address === addr && block.size === size)).toBe(true);
            live.set(addr, size);
          } else if (action === 'free_completed') expect(live.delete(addr)).toBe(true);
        }
        let next = address;
        for (const block of blocks) {
          expect(block.address).toBe(next);
          next += block.size;
        }
        expect(next).toBe(address + total_size);
      }
    });
  }

  it('names the buffer, its line and the reason', () => {
    const snapshot = unpickle(joinChunks(memorySnapshot(tracedToy()))) as Snapshot;
    const [event] = snapshot.device_traces[0]?.filter(({ frames }) => frames[0]?.name.startsWith('n1[')) ?? [];
    expect(event?.frames[0]).toMatchObject({ filename: 'P0', name: expect.stringMatching(/^n1\[0,0\] \(/) });
    expect(event?.frames[1]).toMatchObject({ filename: 'layernorm n1', name: expect.stringContaining(', because ') });
  });
});
