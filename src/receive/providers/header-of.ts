import type { Delivery } from './provider.ts';

/** The value of a header that is there exactly once; the name is in lower case. */
export function headerOf({ headers }: Pick<Delivery, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}
