/** @file Names of collectives and of the ways to run them. */

export type CollectiveKind = 'all-reduce' | 'reduce-scatter' | 'all-gather' | 'broadcast' | 'all-to-all' | 'send';

/** `hierarchical`: rings inside each tier of links, on a share of the bytes across them. */
export type AlgorithmName = 'ring' | 'tree' | 'direct' | 'hierarchical';
