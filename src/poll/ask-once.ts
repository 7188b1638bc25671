import { PermanentError } from '../model/errors.ts';
import type { ListTags, HeadManifest } from '../reconcile/resolve-tag.ts';

/** The registry's answers about one repository, each requested once, however many policies need it. */
export interface AskOnce {
  readonly listTags: ListTags;
  readonly headManifest: HeadManifest;
  /** All tags, if they were requested and the registry knows the repository. */
  listed(): ReadonlySet<string> | undefined;
  /** The registry's first failure; errors that the user has to fix do not count. */
  failure(): unknown;
}

/** For one poll, with one set of credentials. */
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
