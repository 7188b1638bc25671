/** The approvals of several people: in the spec of an ImagePolicy, and in its status. */
import fc from 'fast-check';
import { list, some, text } from './arbitrary-parts.ts';

/** What the spec asks for. */
export const approvalsArbitrary = (duration: fc.Arbitrary<string>) =>
  some({ count: fc.integer({ min: 1, max: 10 }), within: duration, notByAuthor: fc.boolean() });

/** What the status says of one image. */
export function approvalRoundArbitrary({ tag, digest, dateTime }: Readonly<Record<'tag' | 'digest' | 'dateTime', fc.Arbitrary<string>>>) {
  const by = { user: text(253, 'ada@example.com'), at: dateTime };
  const given = some({ ...by, seenAt: dateTime, reason: text(300, 'tested') }, ['user', 'at', 'seenAt']);
  const why = fc.constantFrom('Expired', 'Earlier', 'Future', 'Author', 'AuthorUnknown');
  const uncounted = some({ ...by, why }, ['user', 'at', 'why']);
  return some(
    {
      tag,
      digest,
      since: dateTime,
      generation: fc.nat({ max: 9 }),
      required: fc.integer({ min: 1, max: 10 }),
      given: list(given),
      uncounted: list(uncounted),
      until: dateTime,
    },
    ['tag', 'digest', 'since', 'generation', 'required'],
  );
}
