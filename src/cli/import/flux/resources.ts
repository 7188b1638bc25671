/** Reads the fields of Flux's resources for image updates. */
import { fieldsOf, type JsonObject, textOrEmpty } from '../../../core/model/untyped.ts';
import type { SourceObject } from '../importer.ts';
import { textsOf } from '../workload.ts';

/** The API group of the three kinds of Flux. */
export const group = 'image.toolkit.fluxcd.io';

/** Whether an object has this kind of Flux. Other groups have kinds with the same names. */
export function isOfFlux({ apiVersion, kind }: SourceObject, wanted: 'ImagePolicy' | 'ImageRepository' | 'ImageUpdateAutomation'): boolean {
  return kind === wanted && apiVersion.startsWith(`${group}/`);
}

/** The key of an object: `flux-system/podinfo`. */
export function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** An ImagePolicy of Flux. */
export interface FluxPolicy {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly repositoryKey: string;
  readonly spec: JsonObject;
  /** The tag that Flux selected last. */
  readonly latestTag: string | undefined;
}

export function readFluxPolicy({ namespace, name, value }: SourceObject): FluxPolicy {
  const spec = fieldsOf(value['spec']);
  const reference = fieldsOf(spec['imageRepositoryRef']);
  const { latestRef, latestImage } = fieldsOf(value['status']);
  // Until v1beta2, one field of the status contains the whole image.
  const image = textOrEmpty(latestImage);
  const tag = textOrEmpty(fieldsOf(latestRef)['tag']) || image.slice(image.lastIndexOf(':') + 1);
  return {
    namespace,
    name,
    labels: textsOf(fieldsOf(value['metadata'])['labels']),
    repositoryKey: keyOf({ namespace: textOrEmpty(reference['namespace']) || namespace, name: textOrEmpty(reference['name']) }),
    spec,
    latestTag: tag === '' ? undefined : tag,
  };
}

/** An ImageRepository of Flux. */
export interface FluxRepository {
  readonly namespace: string;
  readonly name: string;
  readonly spec: JsonObject;
}

/** An ImageUpdateAutomation of Flux, reduced to the fields that affect policies. */
export interface FluxAutomation {
  readonly namespace: string;
  readonly name: string;
  readonly isSuspended: boolean;
  /** The branch to which Flux pushes, if it is not the branch that is deployed. */
  readonly pushesTo: string | undefined;
  readonly selector: unknown;
}

export function readAutomation({ namespace, name, value }: SourceObject): FluxAutomation {
  const { git, suspend, policySelector } = fieldsOf(value['spec']);
  const { push, checkout } = fieldsOf(git);
  const { branch, refspec } = fieldsOf(push);
  const checkedOut = fieldsOf(fieldsOf(checkout)['ref'])['branch'];
  // Without a checkout, the GitRepository names the branch that is deployed.
  const pushesTo = checkedOut !== undefined && branch !== checkedOut ? textOrEmpty(branch) || textOrEmpty(refspec) : '';
  return { namespace, name, isSuspended: suspend === true, pushesTo: pushesTo === '' ? undefined : pushesTo, selector: policySelector };
}
