/** The kinds of the API group: ImagePolicy, and what wings add. */
import type { z } from 'zod';
import type { CheckContext } from './rules.ts';
import type { Problem } from './validation/problem.ts';

/** A column of `kubectl get`; only -o wide prints those of priority 1. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly priority?: number;
}

/** A kind with one version, v1. */
export interface AddedKind {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  /** The whole resource below `metadata`. */
  readonly schema: z.ZodType;
  /** Its `spec`, as users write it. */
  readonly specSchema: z.ZodType;
  readonly columns: readonly Column[];
}

/** An older version of ImagePolicy, which clients may still write. Objects are stored, and read by the service, as v1. */
export interface OlderVersion {
  /** `v1alpha1`. */
  readonly version: string;
  readonly apiVersion: string;
  /** Its `spec`, as users write it. */
  readonly specSchema: z.ZodType;
  /** Everything that is wrong with a spec of this version, in its own words. */
  readonly problems: (spec: unknown, context: CheckContext) => readonly Problem[];
  /** A problem of a v1 spec, in the words of this version. */
  readonly inItsWords: <T extends Omit<Problem, 'keys'>>(problem: T) => T;
  /** Whether a spec of v1 could have been written in this version. */
  readonly couldHaveWritten: (spec: unknown) => boolean;
}

/** What a wing adds to the API group. */
export interface WingKinds {
  readonly kinds?: readonly AddedKind[];
  readonly olderVersions?: readonly OlderVersion[];
}
