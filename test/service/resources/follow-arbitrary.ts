/** Policies that follow others: in the spec of an ImagePolicy, and in its status. */
import fc from 'fast-check';
import { list, some } from './arbitrary-parts.ts';

/** The policies that another one follows. */
export const provenBy = some(
  {
    policies: fc.constantFrom(
      [{ name: 'staging' }, { name: 'web', namespace: 'staging' }],
      [
        { name: 'web', namespace: 'staging' },
        { name: 'web', namespace: 'load-test' },
      ],
    ),
    for: fc.constantFrom('30m', '1h30m'),
  },
  ['policies'],
);

/** Whether a spec keeps the rules about tags that move, which would change nothing or go to what nobody has run, and about other choices beside `proven`. */
export function keepsRules(spec: { readonly select?: object; readonly update?: object }): boolean {
  const { select = {}, update = {} } = spec;
  const isProven = 'proven' in select;
  const isTagged = 'pin' in update && update.pin === 'Tag';
  return (
    !(isTagged && (isProven || 'digest' in select || 'after' in update)) &&
    !(isProven && ('tags' in spec || 'artifact' in spec || 'alongside' in spec || 'after' in update))
  );
}

/** What the status says of the policy itself, and of those that it follows. */
export function followArbitraries({
  tag,
  digest,
  dateTime,
  message,
  ...names
}: Readonly<Record<'tag' | 'digest' | 'dateTime' | 'message' | 'namespace' | 'name', fc.Arbitrary<string>>>) {
  const image = { tag, digest, since: dateTime };
  return { healthy: some(image, ['digest', 'since']), follows: list(some({ ...names, ...image, message }, ['namespace', 'name'])) };
}
