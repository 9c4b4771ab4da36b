/** @file Samples of a list, one of each kind of operation, and where the memory of their operands is. */
import { type ExpandedOperation, expandOperation } from '../expanded-operation.ts';
import { type NameScope, nameScope, withoutSlice } from '../names.ts';
import type { Call, ListOperation, Operation, Program, RankList, Template } from '../types.ts';
import { createMemories, type Memories, type Place } from './memories.ts';
import { alikeLines, type Sample } from './samples.ts';

/** Operations of a template in one block, ready to be replayed. */
export interface BlockForm {
  /** Sample of the first operation; the others follow. */
  readonly sample: number;
  readonly length: number;
  /** By operation, and one more: where its operands begin. */
  readonly starts: Uint32Array;
  /** By operand: a memory, or where the memory of micro-batch 0 is. */
  readonly base: Uint32Array;
  /** By operand: 1 where the micro-batch is added. */
  readonly moves: Uint8Array;
  /** Operands that a call may read as one of several gathered copies. */
  readonly copies: readonly { readonly at: number; readonly bucket: string; readonly place: Place }[];
}

export interface LineForm {
  readonly sample: number;
  readonly places: readonly Place[];
  readonly memories: Memories;
}

export interface Book {
  readonly samples: ExpandedOperation[];
  /** By sample: the first one of its block. */
  readonly blocks: number[];
  readonly memories: Memories;
  blockOf(template: Template, block: number, call: Call, at: number): BlockForm;
  lineOf(item: ListOperation, at: number): LineForm;
}

export function createBook(program: Program, list: RankList): Book {
  const memories = createMemories(program, list);
  const scope = nameScope(program, list);
  const samples: ExpandedOperation[] = [];
  const blocks: number[] = [];
  const forms = new Map<Template, Map<number, BlockForm>>();
  const lines = new Map<Place['slot'] | undefined, Sample[]>();
  const blockOf: Book['blockOf'] = (template, block, call, at) => {
    let ofTemplate = forms.get(template);
    if (ofTemplate === undefined) {
      ofTemplate = new Map();
      forms.set(template, ofTemplate);
    }
    const key = block * 2 + (call.again ? 1 : 0);
    const known = ofTemplate.get(key);
    if (known !== undefined) return known;
    const sample = samples.length;
    template.operations.forEach((operation, index) => {
      samples.push(expandOperation(operation, scope, at + index, call.id, [], block, call));
      blocks.push(sample);
    });
    const form = formOf(samples, sample, memories);
    ofTemplate.set(key, form);
    return form;
  };
  const lineOf: Book['lineOf'] = ({ operation, id }, at) => {
    const places = placesOf(operation, memories);
    const first = places[0]?.slot;
    const known = lines.get(first) ?? [];
    for (const each of known) if (alikeLines(each, operation, places)) return { sample: each.index, places, memories };
    const sample = samples.length;
    samples.push(lineSample(operation, scope, at, id));
    blocks.push(sample);
    known.push({ index: sample, operation: samples[sample] as ExpandedOperation, places });
    lines.set(first, known);
    return { sample, places, memories };
  };
  return { samples, blocks, memories, blockOf, lineOf };
}

const lineSample = (operation: Operation, scope: NameScope, at: number, id: number): ExpandedOperation =>
  expandOperation(operation, scope, at, id, [], undefined, undefined);

function placesOf({ reads, writes }: Operation, memories: Memories): readonly Place[] {
  const places: Place[] = [];
  const add = (name: string): void => {
    places.push(memories.placeOf(withoutSlice(name)));
  };
  for (const name of reads) if (name !== 'none') add(name);
  for (const { buffer } of writes) add(buffer);
  return places;
}

function formOf(samples: readonly ExpandedOperation[], from: number, memories: Memories): BlockForm {
  const starts = [0];
  const base: number[] = [];
  const moves: number[] = [];
  const copies: { at: number; bucket: string; place: Place }[] = [];
  for (let at = from; at < samples.length; at++) {
    const { reads, writes } = samples[at] as ExpandedOperation;
    for (const operand of [...reads, ...writes.map((write) => write.operand)]) {
      if (operand === undefined) continue;
      const { name, declaration } = operand.instance;
      const { bucket } = declaration;
      // Weights are placed without the copy that the call at hand reads: the next one reads another.
      const place = memories.placeOf(declaration.role === 'weight' ? name.replace(/@\d+$/, '') : name);
      if (declaration.role === 'weight' && bucket !== undefined) copies.push({ at: base.length, bucket, place });
      const isEach = place.each === 'micro-batch';
      base.push(isEach ? place.slot.first : memories.memoryOf(place));
      moves.push(isEach ? 1 : 0);
    }
    starts.push(base.length);
  }
  return {
    sample: from,
    length: samples.length - from,
    starts: Uint32Array.from(starts),
    base: Uint32Array.from(base),
    moves: Uint8Array.from(moves),
    copies,
  };
}
