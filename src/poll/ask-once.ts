import { PermanentError } from '../model/errors.ts';
import type { ListTags, HeadManifest } from '../reconcile/resolve-tag.ts';

/** Shares the registry's answers about one repository between all policies of a poll: each request is sent once. */
export interface AskOnce {
  readonly listTags: ListTags;
  readonly headManifest: HeadManifest;
  /** All tags, if they were requested and the registry knows the repository. */
  listed(): ReadonlySet<string> | undefined;
  /** The first error that may be temporary; undefined if there was none. */
  failure(): unknown;
}

/** Creates it for one poll, whose policies all have the same access. */
export function askOnce(ports: Pick<AskOnce, 'listTags' | 'headManifest'>): AskOnce {
  let tags: ReturnType<ListTags> | undefined;
  let listed: ReadonlySet<string> | undefined;
  let failure: unknown;
  const heads = new Map<string, ReturnType<HeadManifest>>();
  const watch = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof PermanentError)) failure ??= error;
      throw error;
    }
  };
  const list: ListTags = async (source, signal) => {
    const answer = await watch(ports.listTags(source, signal));
    if (answer !== undefined) listed = new Set(answer);
    return answer;
  };
  return {
    listTags: (source, signal) => (tags ??= list(source, signal)),
    headManifest(source, tag, signal, purpose) {
      const head = heads.get(tag) ?? watch(ports.headManifest(source, tag, signal, purpose));
      heads.set(tag, head);
      return head;
    },
    listed: () => listed,
    failure: () => failure,
  };
}
