/** The interface of importers. An importer reads objects of another updater, and converts them to policies. */
import type { Spec } from '../../service/resources/v1.ts';
import type { JsonObject } from '../../core/model/untyped.ts';
import type { WrittenPolicy } from '../../service/command-line/policy-documents.ts';
import type { Comment } from '../manifests/read-documents.ts';

/** One entry of `importers`. */
export interface Importer {
  /** The id of the importer in the command: `image-watcher import keel`. */
  readonly id: string;
  /** One line about the importer for the overview. */
  readonly summary: string;
  /** What the importer reads and prints, for the help. */
  readonly about: string;
  /** Example command lines after `import ID`, each with an explanation. */
  readonly examples: readonly (readonly [line: string, about: string])[];
  /** The kinds that the importer reads from a cluster. */
  readonly kinds: readonly ReadKind[];
  /** The message if there is nothing to convert. */
  readonly nothing: string;
  convert(sources: Sources): Imported;
}

/** A kind that is read from a cluster. */
export interface ReadKind {
  /** The API version; for a group alone, the version that the API server prefers. A kind that is not served has no objects. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  /** Whether the kind is read in all namespaces despite `--namespace`: policies of one namespace may be about workloads of another. */
  readonly isEverywhere?: true;
  /** Only objects with this name are read. */
  readonly name?: string;
}

/** The objects to convert, and their origin. */
export interface Sources {
  readonly objects: readonly SourceObject[];
  /** Whether the objects are from files. Files have comments, but lack parts of what the cluster has. */
  readonly areFiles: boolean;
  /** The namespace of objects that name none. */
  readonly assumedNamespace?: string;
}

/** An object of a cluster or of a file. */
export interface SourceObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly value: JsonObject;
  /** The comments after values of the object, if it is from a file. */
  readonly comments: readonly Comment[];
  /** The file of the object; absent for a cluster or the standard input. */
  readonly file?: string;
  /** Whether the namespace is assumed, because the file names none. */
  readonly isNamespaceAssumed: boolean;
}

/** The result of converting the objects. */
export interface Imported {
  readonly policies: readonly WrittenPolicy[];
  readonly skipped: readonly Skipped[];
  /** Remarks that concern all policies. */
  readonly remarks: readonly string[];
}

/** An object or image that was not converted, and why. */
export interface Skipped {
  /** The object: `Deployment shop/web`. */
  readonly object: string;
  readonly problem: string;
}

/** The policy for one target, before policies with the same spec are merged. */
export interface Draft {
  readonly namespace: string;
  readonly spec: Omit<Spec, 'targets'>;
  readonly target: Spec['targets'][number];
  readonly notes: readonly string[];
  /** The name of the policy; by default that of the workload or the repository. */
  readonly name?: string;
}
