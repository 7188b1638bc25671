/** Which BaseImagePolicies may push rebased images with the credentials of image-watcher itself: `consents[].push` of the configuration. Pure. */
import { formatRepository, type RegistryAliases, type Repository } from './image-reference.ts';
import { matchesRepository } from './repository-pattern.ts';

/** What the operator lets the policies of one namespace push to. */
export interface PushGrant {
  /** The namespace whose policies may push. */
  readonly policiesFrom: string;
  /** Patterns of repositories, in whose paths `*` stands for any characters. */
  readonly push: readonly string[];
}

/** Whether policies of a namespace may push to a repository. Without a grant they may not. */
export function mayPush(grants: readonly PushGrant[], namespace: string, repository: Repository, aliases: RegistryAliases): boolean {
  return grants.some(
    ({ policiesFrom, push }) => policiesFrom === namespace && push.some((pattern) => matchesRepository(pattern, repository, aliases)),
  );
}

/** The number of repositories that a message names. */
const maxNamed = 10;

/** What to add to the configuration so that policies of the namespace may push to these repositories. */
export function describeMissingGrant(namespace: string, repositories: readonly Repository[]): string {
  const names = [...new Set(repositories.map(formatRepository))].toSorted();
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more, or patterns with "*",` : '';
  return `add {policiesFrom: ${namespace}, push: [${names.slice(0, maxNamed).join(', ')}]}${more} to consents in the configuration of image-watcher, or name a pushSecret in the action`;
}
