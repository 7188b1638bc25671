import type { Repository } from './image-reference.ts';

/** A Secret, by its name. */
export interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

/** The Secrets to try before the service's own credentials, in this order. */
export interface PullAccess {
  readonly secrets: readonly PullSecret[];
}

/** A Secret, and what names it. */
export interface PullSecret extends SecretRef {
  readonly namedBy: 'policy' | 'target' | 'serviceAccount';
}

/** A repository, and the credentials with which to access it; without `access`, the service's own. */
export interface ImageSource extends Repository {
  readonly access?: PullAccess;
  /**
   * When the caller learned of the event that caused the request, in ms since 1970: a request that was refused after that is not repeated until its pause is over.
   * Absent: the registry is asked in any case.
   */
  readonly heardAt?: number;
}

/** The same text for sources with the same access: only they share answers, tokens and polls. */
export function accessKey({ access }: Pick<ImageSource, 'access'>): string {
  return (access?.secrets ?? []).map(({ namespace, name }) => `${namespace}/${name}`).join(',');
}
