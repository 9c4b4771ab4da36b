/** @file The exam: one question from each page, in the order of the pages, other than the one that the page asks. */
import type { Guess } from './pages.ts';

export const exam: readonly Guess[] = [
  {
    question: 'A model has one billion parameters. What do weights, gradients and Adam take, in 16 and 32 bits?',
    answers: ['2 GB', '4 GB', '16 GB'],
    right: 2,
    because: '2 + 2 + 12 bytes a parameter.',
  },
  {
    question: 'Eight replicas sum 8 GB of gradients in a ring. What does each send?',
    answers: ['8 GB', '14 GB', '56 GB'],
    right: 1,
    because: '2 (8 - 1)/8 of 8 GB, however many there are.',
  },
  {
    question: 'Which of these holds the weights whole on every GPU?',
    answers: ['ZeRO-2', 'ZeRO-3', 'tensor'],
    right: 0,
    because: 'ZeRO-2 shares out optimizer and gradients; only ZeRO-3 shares out the weights as well.',
  },
  {
    question: 'How often in a layer do tensor ranks add up partial results, forward and backward?',
    answers: ['once', 'twice', 'four times'],
    right: 2,
    because: 'Behind attention and behind the feed-forward, in both directions.',
  },
  {
    question: 'What does sequence parallelism save?',
    answers: ['bytes on the links', 'activations', 'weights'],
    right: 1,
    because: 'The bytes stay what they were; norms and residuals are kept by one rank each.',
  },
  {
    question: 'Eight stages, 16 micro-batches. Twice as many micro-batches: what becomes of the 30 % of idle time?',
    answers: ['18 %', '30 %', '60 %'],
    right: 0,
    because: '(8 - 1)/(32 + 8 - 1) is 18 %.',
  },
  {
    question: 'What goes round the ring of context ranks?',
    answers: ['weights', 'keys and values', 'the loss of each token'],
    right: 1,
    because: 'A query has to meet the keys and values of all tokens before it.',
  },
  {
    question: 'Which exchange carries tokens to their experts?',
    answers: ['an all-reduce', 'an all-to-all', 'a send to the next stage'],
    right: 1,
    because: 'Everybody has tokens for everybody.',
  },
  {
    question: 'Two nodes of eight GPUs, tensor 8 and data 2. Which exchanges cross the network?',
    answers: ['those of tensor', 'those of data', 'both'],
    right: 1,
    because: 'A tensor group fills a node; the replicas stand in different nodes.',
  },
  {
    question: 'What does a GPU that is 10 % slower do to those that wait for it?',
    answers: ['nothing', 'they wait as long as it is late', 'they take over its work'],
    right: 1,
    because: 'An exchange ends when its last member has come.',
  },
];
