/** Which changes a stream sends: the query of its route. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { recordKinds, type RecordFeed, type RecordKind } from './record-feed.ts';
import { namespaceName, objectName } from './route.ts';

/** Which changes a stream sends, and how. */
export interface StreamFilter {
  readonly namespace?: string | undefined;
  /** The name of the only object whose changes are sent; needs `namespace`. */
  readonly name?: string | undefined;
  /** Says only that something has changed. */
  readonly isBrief?: boolean | undefined;
  /** What else is followed, besides objects: the stream says only that it has changed. */
  readonly records?: { readonly feed: RecordFeed; readonly kinds: ReadonlySet<RecordKind> } | undefined;
}

/** The filter as the query of a route. */
export const streamQuery = z.object({
  namespace: namespaceName.exactOptional().describe('Only what is of this namespace.'),
  name: objectName.exactOptional().describe('Only the changes of this one; with `namespace`.'),
  brief: z
    .enum(['true', 'false'])
    .exactOptional()
    .describe('true: only the event `changed`, at most once a second, for readers that then read a list again.'),
});

/** The filter of a query. */
export function filterOf({ namespace, name, brief }: z.output<typeof streamQuery>, records?: StreamFilter['records']): StreamFilter {
  return { namespace, name, isBrief: brief === 'true', ...defined({ records }) };
}

const followed = ['policies', ...recordKinds] as const;

/** What a stream follows, as the query of a route. */
export const followedQuery = z
  .string()
  .max(100)
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(followed, { error: `one of ${followed.join(', ')}, or several, separated by commas` })))
  .transform((names) => new Set(names))
  .exactOptional()
  .describe(
    `One or more, separated by commas, of ${followed.join(', ')}: what is followed; policies unless given. Of the others, which are looked up every two seconds, there is only the event \`changed\`, ` +
      'when something changed that the caller may see. refusals: deliveries that a receiver refused.',
  );
