/** @file Sends and receives between two ranks: rendezvous. A send is over when the peer has taken the message. */
import { assertInvariant } from '@meshwright/core/errors';
import type { Elements } from '../kernels/tensor.ts';
import { hashText } from '../numbers/hash.ts';
import type { Waiting } from './circle.ts';
import type { Channel, Port } from './port.ts';
import type { Wire } from './wire.ts';

export interface Message {
  readonly port: Port;
  /** The sender's channel towards the receiver. */
  readonly channel: Channel;
  readonly wire: Wire;
  /** What is sent: both sides name the same buffer. */
  readonly tag: string;
  /** The rank at the other end. */
  readonly peer: number;
}

const tagOf = (message: Message): number => hashText(message.tag) | 0;

/** `key` is the key of the ledger that the bytes are counted under. */
export function* send(message: Message, values: Elements, key: number): Waiting {
  const { channel, port, wire } = message;
  const before = channel.posted();
  while (channel.consumed() < before) yield;
  wire.write(channel.memory, channel.offset, values);
  channel.setLabel(tagOf(message), key);
  channel.post();
  port.ring([message.peer]);
  while (channel.consumed() <= before) yield;
}

export function* receive(message: Message, into: Elements): Waiting {
  const { channel, port, wire } = message;
  const taken = channel.consumed();
  while (channel.posted() <= taken) yield;
  const { tag, key } = channel.label();
  assertInvariant(
    tag === tagOf(message),
    () => `rank ${port.rank} waits for ${message.tag} from rank ${message.peer}, which sent something else`,
  );
  wire.read(channel.memory, channel.offset, into);
  port.count(message.peer, key, into.length * wire.counted);
  channel.consume();
  port.ring([message.peer]);
}
