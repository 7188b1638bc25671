/** What an importer is: the objects of another updater that it reads, and the policies that it makes of them. */
import type { Spec } from '../../service/resources/v1.ts';
import type { JsonObject } from '../../core/model/untyped.ts';
import type { WrittenPolicy } from '../policy-documents.ts';
import type { Comment } from '../manifests/read-documents.ts';

/** One entry of `importers`. */
export interface Importer {
  /** As in the command: `image-watcher import keel`. */
  readonly id: string;
  /** One line for the overview. */
  readonly summary: string;
  /** What it reads and prints, for the help. */
  readonly about: string;
  /** Lines after `import ID`, each with what it does. */
  readonly examples: readonly (readonly [line: string, about: string])[];
  /** The kinds that are read from a cluster. */
  readonly kinds: readonly ReadKind[];
  /** What is said where there is nothing to convert. */
  readonly nothing: string;
  convert(sources: Sources): Imported;
}

/** A kind that is read from a cluster. */
export interface ReadKind {
  /** Without a version, the one that the API server prefers; a kind that is not served has no objects. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  /** Whether `--namespace` does not restrict it: policies of one namespace may be about workloads of another. */
  readonly isEverywhere?: true;
  /** Only objects with this name. */
  readonly name?: string;
}

/** Objects, and where they are from. */
export interface Sources {
  readonly objects: readonly SourceObject[];
  /** Whether they are from files, which have comments but not everything that is in the cluster. */
  readonly areFiles: boolean;
  /** That of what names none. */
  readonly assumedNamespace?: string;
}

/** An object of a cluster or of a file. */
export interface SourceObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly value: JsonObject;
  /** The comments behind its values, where it is from a file. */
  readonly comments: readonly Comment[];
  /** Where it is from, unless from a cluster or the standard input. */
  readonly file?: string;
  /** Whether the file names no namespace. */
  readonly isNamespaceAssumed: boolean;
}

/** What was made of the objects. */
export interface Imported {
  readonly policies: readonly WrittenPolicy[];
  readonly skipped: readonly Skipped[];
  /** What concerns all policies. */
  readonly remarks: readonly string[];
}

/** What was not carried over, and why. */
export interface Skipped {
  /** `Deployment shop/web`. */
  readonly object: string;
  readonly problem: string;
}

/** The policy for one target, before those with the same spec are merged. */
export interface Draft {
  readonly namespace: string;
  readonly spec: Omit<Spec, 'targets'>;
  readonly target: Spec['targets'][number];
  readonly notes: readonly string[];
  /** The name of the policy; by default that of the workload or of the repository. */
  readonly name?: string;
}
