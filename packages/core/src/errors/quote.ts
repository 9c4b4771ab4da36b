const LONGEST = 60;

/** A value of unknown origin as one short line that is safe to print: strings in quotes, control characters escaped. */
export function quote(value: unknown): string {
  if (typeof value === 'string') return shorten(JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029]/g, '?'));
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`;
}

/** A key or name as it may stand in prose: bare when it is plain, quoted and shortened otherwise. */
export const quoteName = (name: string): string => (/^[\w.@/+-]{1,60}$/.test(name) ? name : quote(name));

const shorten = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 4)}..."` : text);
