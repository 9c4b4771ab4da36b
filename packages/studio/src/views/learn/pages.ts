/** @file The pages of Learn: one question each, in our own words, with a figure bound to the engine. */
import type { LessonKey } from '@meshwright/figures';

/** One page. */
export interface Page {
  readonly title: string;
  /** One plain sentence with a picture in it. */
  readonly plain: string;
  readonly question: string;
  readonly text: readonly string[];
  /** What to look for while stepping. */
  readonly look: string;
  /** A lesson that is stepped through, or the reader's own plan on a cluster that is disturbed. */
  readonly figure: PageLesson | 'disturbed';
  readonly guess: Guess;
}

/** The lesson of a page. */
export interface PageLesson {
  readonly layout: LessonKey;
  readonly model: 'toy' | 'llama-2-7b';
  readonly sharding: 1 | 2 | 3;
  readonly beside?: LessonKey;
}

/** A question with its answers. What is a number in them is held against the engine by the tests. */
export interface Guess {
  readonly question: string;
  readonly answers: readonly string[];
  /** Index of the right answer. */
  readonly right: number;
  readonly because: string;
}

export const pages: readonly Page[] = [
  {
    title: 'One GPU, and why it is not enough',
    plain: 'A painter with one canvas needs room for the paint, the brushes and the notes, not only for the picture.',
    question: 'What has to fit into one GPU?',
    text: [
      'Training keeps more than the weights. Backward leaves a gradient for each: which way it should move. The optimizer (Adam) keeps notes on each: a precise copy and two running means. With 16-bit weights and gradients and 32-bit notes that is 2 + 2 + 12 = 16 bytes a parameter, before forward has stored one activation, a result that backward needs again.',
      'Seven billion parameters take about 108 GB that way. An H100 can hand out 79 GiB. Nothing about speed has been said yet, and the answer is already no.',
    ],
    look: 'W weights, G gradients, O optimizer, A activations. Before the first step: which is the largest, and does the bar below the four fit?',
    figure: { layout: 'data', model: 'llama-2-7b', sharding: 3 },
    guess: {
      question: 'Which takes most of the 16 bytes?',
      answers: ['the weights', 'the gradients', 'the optimizer'],
      right: 2,
      because: 'Master weights and two moments in 32 bits are 12 of the 16 bytes.',
    },
  },
  {
    title: 'Data parallelism',
    plain:
      'Everyone paints a copy of the same picture from another model, and after each layer of paint they agree on the average.',
    question: 'What do replicas have to tell each other?',
    text: [
      'Each GPU holds everything and takes other sequences: it is a replica. Forward needs nobody. Backward ends with different gradients everywhere, and they have to become one sum. That is an all-reduce.',
      'In a ring each GPU hands pieces to its neighbour: first pieces are added up on the way round, then the finished pieces go round once more. Each GPU sends 2 (N−1)/N of the gradients, however many GPUs there are.',
    ],
    look: 'The first exchange adds up one number, the loss. Then come the gradients: arrows in a ring, and a piece of G is no longer hatched once it is summed. "Step through it" shows the fourteen messages of a sum one by one.',
    figure: { layout: 'data', model: 'toy', sharding: 3 },
    guess: {
      question: 'Sixteen GPUs instead of eight: what does each send?',
      answers: ['twice as much', 'about as much', 'half as much'],
      right: 1,
      because: '2 (N−1)/N is 1.75 for eight and 1.875 for sixteen.',
    },
  },
  {
    title: 'Sharded state',
    plain: 'The picture is cut into strips, everyone keeps one, and a strip is passed round when it is needed.',
    question: 'What do replicas not have to hold all the time?',
    text: [
      'Eight replicas hold the optimizer state eight times. ZeRO-1 keeps an eighth on each, ZeRO-2 the gradients as well, ZeRO-3 (FSDP) even the weights, which are gathered layer by layer and thrown away again.',
      'An all-reduce is a scatter of sums and a gather, of equal bytes. One and two move just those. Three gathers weights in forward and again in backward: half as much again.',
    ],
    look: 'Watch the W shelf: a strip of every piece appears when a layer is gathered and is gone after its use.',
    figure: { layout: 'sharded', model: 'llama-2-7b', sharding: 3, beside: 'data' },
    guess: {
      question: 'What does ZeRO-3 send, against plain data parallelism?',
      answers: ['the same', '1.5 times as much', 'twice as much'],
      right: 1,
      because: 'Two gathers and one scatter are three halves of an all-reduce.',
    },
  },
  {
    title: 'Tensor parallelism',
    plain: 'Several hold one brush: every stroke is made together, so they have to stand close to each other.',
    question: 'What does it cost to split a single matrix?',
    text: [
      'Each GPU multiplies with a slice of every matrix. A column slice followed by a row slice gives partial sums, which have to be added before the next layer: twice forward and twice backward in every layer.',
      'Those sums stand between two products and cannot be hidden. Inside a node they take little time; over the network they take more than the products.',
    ],
    look: 'The strip between the nodes is dark at almost every exchange here. That is why nobody does this.',
    figure: { layout: 'tensor', model: 'toy', sharding: 3 },
    guess: {
      question: 'Where should a tensor group lie?',
      answers: ['inside one node', 'spread over nodes', 'it does not matter'],
      right: 0,
      because: 'Its exchanges are on the way of every layer, so they need the fastest links.',
    },
  },
  {
    title: 'Sequence with tensor',
    plain: 'While the brush is put down, everyone looks after an own part of the canvas.',
    question: 'What do tensor ranks do twice?',
    text: [
      'Between the split matrices lie norms and residuals. Without care every tensor rank computes and keeps them all.',
      'With sequence parallelism each rank keeps its part of the sequence there. The sum of partial results becomes a reduce-scatter, and an all-gather brings the sequence back together before the next product: the same bytes, a fraction of the activations.',
    ],
    look: 'The A shelf holds an eighth of what data parallelism holds for the same sequences.',
    figure: { layout: 'tensor', model: 'toy', sharding: 3, beside: 'data' },
    guess: {
      question: 'What does it add to the bytes sent forward?',
      answers: ['nothing', 'half', 'they double'],
      right: 0,
      because: 'A reduce-scatter and an all-gather together are an all-reduce.',
    },
  },
  {
    title: 'Pipeline, and its bubble',
    plain: 'A workshop with eight tables: the first picture has to reach the last table before all hands are busy.',
    question: 'Who waits, and how long?',
    text: [
      'The batch is cut into micro-batches. Each stage holds a row of layers and hands activations on. That is little traffic, so it may cross the slow link. But the last stage waits for the first micro-batch, and the first waits for the last gradient.',
      'With p stages and m micro-batches of equal length the stages idle (p−1)/(m+p−1) of the step: 30 % for eight stages and 16 micro-batches. In the usual order, one forward and one backward in turn (1F1B), stage i holds up to p - i micro-batches at once.',
    ],
    look: 'The hatched corners of the schedule. The number on the A shelf is how many micro-batches a stage holds at once.',
    figure: { layout: 'pipeline', model: 'toy', sharding: 3, beside: 'three-axes' },
    guess: {
      question: 'Which stage holds most activations?',
      answers: ['the first', 'the middle', 'the last'],
      right: 0,
      because: 'Counted from 0, stage i of p holds up to p - i of them; the first waits longest for its gradient.',
    },
  },
  {
    title: 'Context parallelism',
    plain:
      'A long scroll is cut into pieces; every painter keeps one, and the notes on all pieces are passed round the table.',
    question: 'What does a piece of a sequence need of the others?',
    text: [
      'Each GPU holds a piece of every sequence and all weights. Norms, products and the loss need no neighbour; attention does: a query meets the keys and values of all tokens before it.',
      'So keys and values go round a ring of C ranks: C-1 hops forward, C-1 again backward, and their gradients take C hops home. Each rank keeps an early and a late part of the sequence, so that all have as many pairs to compute. The copies of the weights need a sum of gradients, as replicas do.',
    ],
    look: 'The A shelf: an eighth of the activations that one GPU would hold for the same sequences. Between two hops everyone computes.',
    figure: { layout: 'context', model: 'toy', sharding: 3 },
    guess: {
      question: 'Sequences twice as long on twice as many context ranks: what does a rank send in one hop?',
      answers: ['half as much', 'the same', 'twice as much'],
      right: 1,
      because: 'A hop carries keys and values of one piece, and the pieces stay as long as they were.',
    },
  },
  {
    title: 'Expert parallelism',
    plain:
      'Each painter knows one thing well; every detail of the picture is carried to the two who know it, and back.',
    question: 'What travels when the experts of a layer lie on different GPUs?',
    text: [
      'A layer of experts has many feed-forwards, and a router picks a few for each token. Eight GPUs hold one expert of each layer, so the experts are nobody\u2019s copy and need no sum over replicas.',
      'But tokens have to go where their experts are: one exchange of everybody with everybody out, one back, in forward and again in backward. With E ranks and k experts a token that is 4 (E−1)/E b s k h values a layer. The router decides where tokens go; here all experts are picked alike.',
    ],
    look: 'Behind the first exchanges, which gather updated weights: a small one that tells how many tokens come, then everybody with everybody, out and back.',
    figure: { layout: 'expert', model: 'toy', sharding: 1 },
    guess: {
      question: 'Each token has two experts out of eight. What share of the rows leaves its GPU?',
      answers: ['an eighth', 'half', 'seven eighths'],
      right: 2,
      because: 'One expert in eight is at home: (8 - 1)/8 of what is sent goes to others.',
    },
  },
  {
    title: 'Mixing axes on real links',
    plain:
      'Those who share a brush sit at one table, those who copy stand in one room, and the tables follow each other.',
    question: 'Which axis belongs on which link?',
    text: [
      'Tensor exchanges stand in the way of every product: the fastest links, inside a node. Data exchanges can hide behind backward: the network will do. Stages exchange least of all.',
      'So ranks are numbered with tensor fastest. With 2 x 2 x 2 the ranks 0 and 1 are a tensor pair, 0 and 2 hold the same shard in two replicas, 0 and 4 are two stages.',
    ],
    look: 'Only the sends between stages cross the strip between the nodes.',
    figure: { layout: 'three-axes', model: 'toy', sharding: 3 },
    guess: {
      question: 'How much do its two stages idle with eight micro-batches?',
      answers: ['5 %', '11 %', '30 %'],
      right: 1,
      because: '(2 - 1)/(8 + 2 - 1) is 11 %.',
    },
  },
  {
    title: 'When things break',
    plain:
      'When one painter of many is slow, the picture waits for that one: nobody may paint on before all have agreed.',
    question: 'What does one slow GPU or one broken link cost?',
    text: [
      'Every exchange ends when its last member has come. So a GPU that is 10 % slower makes the step of all GPUs nearly 10 % longer, however many there are; what the others gain is only more waiting.',
      'A link that is gone is worse or better than that, as its neighbours can carry its bytes or not. What happens by chance (kernels that vary a little) costs as well: the slowest of many is slower than the mean.',
    ],
    look: 'Slow a GPU, then a link, and watch why computing waits. The simulator places every operation of your own plan on the links that are left.',
    figure: 'disturbed',
    guess: {
      question: 'One of 1,000 data ranks is 10 % slower. How much longer is the step?',
      answers: ['a thousandth of 10 %', 'half of 10 %', 'nearly all of 10 %'],
      right: 2,
      because: 'The sum of the gradients needs all of them, so all wait for the slowest.',
    },
  },
];
