/** The kinds of the API group: ImagePolicy, and what wings add. */
import type { z } from 'zod';
import type { CheckContext } from './rules.ts';
import type { Keys, Problem } from './validation/problem.ts';

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
  /** An object of this version, as the API server would store it. */
  readonly toV1: (object: unknown) => unknown;
  /** Where it has the target that v1 has at this index. */
  readonly targetKeys: (index: number) => Keys;
}

/** What is known of the definition of ImagePolicy that a cluster has. */
export interface InstalledDefinition {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly served?: boolean }[];
    readonly conversion?: { readonly strategy: string };
  };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

/** A definition, by its versions. */
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

/** What a wing adds to the API group. */
export interface WingKinds {
  readonly kinds?: readonly AddedKind[];
  readonly olderVersions?: readonly OlderVersion[];
  /** The definition of ImagePolicy that `crd apply` would write over the installed one, where the wing adds versions to it. */
  readonly policyDefinition?: (installed: InstalledDefinition | undefined) => PolicyDefinition;
}
