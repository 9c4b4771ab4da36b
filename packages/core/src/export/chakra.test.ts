import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { bytesSent } from '../program/index.ts';
import { chakraTraces, joinChunks } from './index.ts';
import { tracedToy } from './traced.fixture.ts';

const schema = `
syntax = "proto3";
message GlobalMetadata { string version = 1; }
message Attribute {
  string name = 1;
  oneof value { int32 int32_val = 7; int64 int64_val = 9; uint64 uint64_val = 13; bool bool_val = 27; string string_val = 29; }
}
message Node {
  uint64 id = 1; string name = 2; int32 type = 3;
  repeated uint64 ctrl_deps = 4; repeated uint64 data_deps = 5;
  uint64 start_time_micros = 6; uint64 duration_micros = 7;
  repeated Attribute attr = 10;
}
`;

interface Node {
  readonly id: number;
  readonly type: number;
  readonly ctrlDeps?: readonly number[];
  readonly dataDeps?: readonly number[];
  readonly attr: readonly Readonly<Record<string, string | number | boolean>>[];
}

function readChakra(bytes: Uint8Array): { readonly version: string; readonly nodes: readonly Node[] } {
  const { root } = protobuf.parse(schema);
  const reader = protobuf.Reader.create(bytes);
  const metadata = root.lookupType('GlobalMetadata').decodeDelimited(reader).toJSON() as { version: string };
  const type = root.lookupType('Node');
  const nodes: Node[] = [];
  while (reader.pos < reader.len) nodes.push(type.toObject(type.decodeDelimited(reader), { longs: Number }) as Node);
  return { version: metadata.version, nodes };
}

/** An attribute by name, of whatever type. */
function attribute(node: Node, name: string): string | number | boolean | undefined {
  const found = node.attr.find((each) => each['name'] === name);
  return found && Object.entries(found).find(([key]) => key !== 'name')?.[1];
}

describe('Chakra execution traces', () => {
  const step = tracedToy({}, 'all');
  const traces = chakraTraces(step);
  const files = step.ranks.map((rank) => readChakra(joinChunks(traces.rank(rank))));

  it('are a graph without circles: every node waits for earlier ones of its file', () => {
    for (const { version, nodes } of files) {
      expect(version).toBe('0.0.4');
      const seen = new Set<number>();
      for (const node of nodes) {
        for (const of of [...(node.ctrlDeps ?? []), ...(node.dataDeps ?? [])]) expect(seen.has(of)).toBe(true);
        seen.add(node.id);
      }
    }
  });

  it('match each send with a receive of the same tag and size on the other rank', () => {
    const key = (node: Node) =>
      ['comm_src', 'comm_dst', 'comm_tag', 'comm_size'].map((name) => attribute(node, name)).join(' ');
    const of = (type: number) =>
      files.flatMap(({ nodes }) => nodes.filter((node) => node.type === type).map(key)).sort();
    expect(of(5)).toEqual(of(6));
    expect(new Set(of(5)).size).toBe(of(5).length);
    files.forEach(({ nodes }, rank) => {
      for (const node of nodes) if (node.type === 5) expect(attribute(node, 'comm_src')).toBe(rank);
    });
  });

  it('name groups that the rank belongs to, in the same order on all their ranks', () => {
    const calls = new Map<string, Map<number, string>>();
    files.forEach(({ nodes }, rank) => {
      for (const node of nodes.filter(({ type }) => type === 7)) {
        const group = String(attribute(node, 'pg_name'));
        expect(traces.groups[group]).toContain(rank);
        const byRank = calls.get(group) ?? new Map<number, string>();
        calls.set(group, byRank);
        byRank.set(rank, `${byRank.get(rank) ?? ''} ${attribute(node, 'comm_type')}:${attribute(node, 'comm_size')}`);
      }
    });
    for (const [group, byRank] of calls) {
      expect([...byRank.keys()]).toEqual(traces.groups[group]);
      expect(new Set(byRank.values()).size).toBe(1);
    }
  });

  it('carry the bytes of the ledger', () => {
    const degree = (group: string): number => traces.groups[group]?.length ?? 1;
    const sent = files.reduce((total, { nodes }) => {
      const bytes = nodes.map((node): number => {
        const size = Number(attribute(node, 'comm_size') ?? 0);
        if (node.type === 5) return size;
        if (node.type !== 7) return 0;
        const others = degree(String(attribute(node, 'pg_name'))) - 1;
        const kind = attribute(node, 'comm_type');
        if (kind === 2) return others * size;
        return kind === 0 ? (2 * others * size) / (others + 1) : (others * size) / (others + 1);
      });
      return total + bytes.reduce((sum, each) => sum + each, 0);
    }, 0);
    expect(sent).toBe(bytesSent(step.program, step.lists).totalBytes);
  });
});
