/** Entries of the outbox for tests, and what the record then has. */
import { createDescriber } from '../../../src/activity/record/describe-entries.ts';
import { linesOf, readLine } from '../../../src/activity/record/chain.ts';
import type { SegmentStore } from '../../../src/activity/record/store.ts';
import { createVerifier, type Verified } from '../../../src/activity/record/verify.ts';
import type { IdentifiedActivity } from '../../../src/core/model/activity.ts';

/** An approval whose subject has this name. */
export const approvalOf = (name: string): IdentifiedActivity => ({
  id: `approve-${name}`,
  activity: {
    type: 'action',
    at: '2026-11-28T12:00:00.000Z',
    action: 'approve',
    subject: { kind: 'ImagePolicy', namespace: 'shop', name },
    user: 'ada',
  },
});

/** Facts of entries that are no pushes. */
export const factsOf = createDescriber(() => Promise.resolve(undefined));

/** All that a store has: the names of the approvals in order, and whether the chain is whole. */
export async function readStore(store: SegmentStore): Promise<{ readonly names: readonly string[]; readonly verified: Verified }> {
  const verifier = createVerifier();
  const names: string[] = [];
  const { signal } = new AbortController();
  for await (const segment of store.list(signal)) {
    const text = (await store.read(segment, signal)) ?? '';
    verifier.add({ name: String(segment), text });
    for (const line of linesOf(text).lines.map(readLine)) names.push(line?.subject.split('/').at(-1) ?? '?');
  }
  return { names, verified: verifier.result() };
}
