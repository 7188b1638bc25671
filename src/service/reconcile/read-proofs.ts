/** Proofs that policies have read the repositories which they name: they are taken from the registry's answers, and recorded with each result of a push. */
import { PermanentError } from '../../core/model/errors.ts';
import { isUsable } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { EventLog } from '../queue/event-log.ts';
import type { ReadRepositories } from '../queue/read-repositories.ts';
import type { Policies, Registry, RegistryReads } from './ports.ts';

/** Adds proofs to the requests to registries: their answers show that the credentials can read the repository, or that they cannot any more. */
export function proveReads(client: RegistryReads, reads: ReadRepositories): RegistryReads & Pick<Registry, 'hasRead'> {
  const prove = async <T>(source: ImageSource, ask: () => Promise<T | undefined>): Promise<T | undefined> => {
    try {
      const answer = await ask();
      // An empty answer proves nothing, because a registry may answer 404 instead of admitting that a repository exists.
      if (answer !== undefined) reads.remember(source);
      return answer;
    } catch (error) {
      if (error instanceof PermanentError) reads.forget(source);
      throw error;
    }
  };
  return {
    ...client,
    headManifest: (source, ...asked) => prove(source, () => client.headManifest(source, ...asked)),
    resolveTag: (source, ...asked) => prove(source, () => client.resolveTag(source, ...asked)),
    readTag: (source, ...asked) => prove(source, () => client.readTag(source, ...asked)),
    listTags: (source, signal) => prove(source, () => client.listTags(source, signal)),
    hasRead: reads.has,
  };
}

/** Finds the source of a policy's images by the policy's name in the record of a push; undefined for a policy that is gone or cannot be used. */
export type FindSource = (key: string) => ImageSource | undefined;

/** Creates the function that finds sources: of ImagePolicies, and of the policies that wings have. */
export function createFindSource(find: Policies['find'], others: readonly FindSource[], sourceOf: Registry['sourceOf']): FindSource {
  return (key) => {
    for (const findOther of others) {
      const found = findOther(key);
      if (found !== undefined) return found;
    }
    const [namespace = '', name = ''] = key.split('/');
    const policy = find(namespace, name);
    return policy && isUsable(policy.spec) ? sourceOf(policy, policy.spec) : undefined;
  };
}

/** Wraps the log so that each result says which repository its policy has read. */
export function recordReads(log: EventLog, findSource: FindSource, reads: ReadRepositories): EventLog {
  return {
    ...log,
    async recordResult(eventId, key, result, push) {
      const source = findSource(key);
      const isRead = source !== undefined && (await reads.has(source));
      await log.recordResult(eventId, key, isRead ? { ...result, hasRead: formatRepository(source) } : result, push);
    },
  };
}
