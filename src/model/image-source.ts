import type { Repository } from './image-reference.ts';

/** A Secret, by its name. */
export interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

/** Secrets that may be tried before the credentials of the service itself, in this order. */
export interface PullAccess {
  readonly secrets: readonly PullSecret[];
}

/** A Secret, and who names it. */
export interface PullSecret extends SecretRef {
  readonly namedBy: 'policy' | 'target' | 'serviceAccount';
}

/** A repository, and on whose behalf the registry is asked; without access with what the service itself has. */
export interface ImageSource extends Repository {
  readonly access?: PullAccess;
  /**
   * When whoever asks heard of a reason to ask, in ms since 1970: what was refused after that is not asked for again until its pause is over. Without it, the registry
   * is asked in any case.
   */
  readonly heardAt?: number;
}

/** The same text for those who may be told the same: answers, tokens and polls are shared by nobody else. */
export function accessKey({ access }: Pick<ImageSource, 'access'>): string {
  return (access?.secrets ?? []).map(({ namespace, name }) => `${namespace}/${name}`).join(',');
}
