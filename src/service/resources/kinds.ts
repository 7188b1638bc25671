/** The kinds of the API group: ImagePolicy, and the kinds of wings. */
import type { z } from 'zod';
import type { CheckContext } from './rules.ts';
import type { Keys, Problem } from './validation/problem.ts';

/** A column of `kubectl get`. Columns of priority 1 are printed only with -o wide. */
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
  /** The schema of the whole resource below `metadata`. */
  readonly schema: z.ZodType;
  /** The schema of `spec`, as users write it. */
  readonly specSchema: z.ZodType;
  readonly columns: readonly Column[];
  /** What is missing in a cluster that does not have the definition, as the end of a sentence. */
  readonly withoutIt: string;
  /** The kind that needs this one for its records, which only the service writes, and users only read. */
  readonly recordsOf?: string;
}

/** An older version of ImagePolicy, which clients may still write. Objects are stored, and read by the service, as v1. */
export interface OlderVersion {
  /** The name of the version: `v1alpha1`. */
  readonly version: string;
  readonly apiVersion: string;
  /** The schema of `spec` in this version, as users write it. */
  readonly specSchema: z.ZodType;
  /** All problems of a spec of this version, in the words of this version. */
  readonly problems: (spec: unknown, context: CheckContext) => readonly Problem[];
  /** A problem of a v1 spec, in the words of this version. */
  readonly inItsWords: <T extends Omit<Problem, 'keys'>>(problem: T) => T;
  /** Whether a spec of v1 could have been written in this version. */
  readonly couldHaveWritten: (spec: unknown) => boolean;
  /** Converts an object of this version to v1, as the API server would store it. */
  readonly toV1: (object: unknown) => unknown;
  /** The location of a target in this version, given its index in v1. */
  readonly targetKeys: (index: number) => Keys;
}

/** The known parts of the installed definition of ImagePolicy. */
export interface InstalledDefinition {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly served?: boolean }[];
    readonly conversion?: { readonly strategy: string };
  };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

/** A definition of ImagePolicy, with its versions. */
export interface PolicyDefinition {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string;
      readonly schema: unknown;
      readonly subresources: unknown;
      readonly additionalPrinterColumns: unknown;
    }[];
  };
}

/** The kinds and versions that a wing adds to the API group. */
export interface WingKinds {
  readonly kinds?: readonly AddedKind[];
  readonly olderVersions?: readonly OlderVersion[];
  /** The definition of ImagePolicy that `crd apply` would write over the installed one, if the wing adds versions to it. */
  readonly policyDefinition?: (installed: InstalledDefinition | undefined) => PolicyDefinition;
}
