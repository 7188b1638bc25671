/** Filters that several commands about policies, pushes and activity have. */
import { defined } from '../../core/model/defined.ts';
import { type Options, UsageError, type Values } from './command.ts';

/** Only what is of policies with a label. */
export const labelOption = {
  label: { short: 'l', value: 'KEY=VALUE', about: 'of policies with this label' },
} as const satisfies Options;

/** The filters of the record, which the API understands. */
export const recordFilters = {
  until: { value: 'TIME', about: 'until 2026-11-24T14:00:00Z' },
  digest: { value: 'DIGEST', about: 'of this digest' },
  receiver: { value: 'NAME', about: 'by this receiver' },
  ...labelOption,
} as const satisfies Options;

/** The filters that are given, as the query of the API. Throws UsageError. */
export function readRecordFilters({ until, digest, receiver, label }: Values<typeof recordFilters>): Readonly<Record<string, string>> {
  if (until !== undefined && !/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(until))
    throw new UsageError(`--until is a time such as 2026-11-24T14:00:00Z, not "${until}"`);
  if (digest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(digest)) throw new UsageError('--digest is sha256: and 64 hexadecimal digits');
  if (label !== undefined) readLabel(label);
  return { ...defined({ until, digest, receiver, label }) };
}

/** Reads KEY=VALUE. Throws UsageError. */
export function readLabel(text: string): { readonly key: string; readonly value: string } {
  const [, key = '', value = ''] = /^([A-Za-z0-9][\w./-]*)=([\w.-]*)$/.exec(text) ?? [];
  if (key === '') throw new UsageError(`--label is KEY=VALUE, not "${text}"`);
  return { key, value };
}
