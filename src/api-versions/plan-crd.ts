import { customResourceDefinition, type Conversion } from './crd.ts';
import { kind } from './group.ts';
import * as v1 from './v1.ts';
import * as v1alpha1 from './v1alpha1.ts';

/** Which CustomResourceDefinition a cluster should have next, from the one it has and from what was asked for. */

/** What was asked for; whatever is left out stays as the cluster has it. */
export interface CrdRequest {
  readonly conversion?: Conversion | undefined;
  /** v1 unless given. */
  readonly storage?: 'v1' | 'v1alpha1';
  /** Serves v1alpha1 although it was retired, or never offered. */
  readonly serveV1alpha1?: boolean;
  readonly v1Only?: boolean;
}

/** The parts of an installed definition that decide. */
export interface InstalledCrd {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly served?: boolean }[];
    readonly conversion?: { readonly strategy: string };
  };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

/**
 * The definition to apply. Decisions of before stay unless the request speaks against them: v1alpha1 that was retired stays retired, v1 alone stays alone, and
 * a webhook stays where it is (the manifest does not mention it). Throws an Error that says what to do where v1alpha1 would go although it is needed.
 */
export function planCrd(existing: InstalledCrd | undefined, request: CrdRequest) {
  const installed = existing?.spec.versions.find(({ name }) => name === v1alpha1.version);
  if (request.v1Only) {
    refuseWhileNeeded(existing);
    return customResourceDefinition({ v1Only: true });
  }
  const isRetired = installed?.served === false && !request.serveV1alpha1 && request.storage !== v1alpha1.version;
  return customResourceDefinition({
    v1Only: isV1Only(existing) && !asksForV1alpha1(request),
    conversion: request.conversion,
    storage: request.storage ?? v1.version,
    unserved: isRetired ? [v1alpha1.version] : [],
  });
}

/** Whether the definition would be without a webhook although it offers two versions: then the request must bring one. */
export function lacksConversion(existing: InstalledCrd | undefined, request: CrdRequest): boolean {
  if (request.v1Only || request.conversion !== undefined) return false;
  if (isV1Only(existing) && !asksForV1alpha1(request)) return false;
  return existing?.spec.conversion?.strategy !== 'Webhook';
}

function isV1Only(existing: InstalledCrd | undefined): boolean {
  return existing !== undefined && existing.spec.versions.every(({ name }) => name === v1.version);
}

function asksForV1alpha1({ conversion, storage, serveV1alpha1 }: CrdRequest): boolean {
  return conversion !== undefined || storage === v1alpha1.version || serveV1alpha1 === true;
}

function refuseWhileNeeded(existing: InstalledCrd | undefined): void {
  if (existing?.status?.storedVersions?.includes(v1alpha1.version)) {
    throw new Error('policies may still be stored as v1alpha1: run "crd apply" with a conversion webhook and "crd migrate" first');
  }
  if (existing?.spec.versions.some(({ name, served }) => name === v1alpha1.version && served !== false)) {
    throw new Error('v1alpha1 is still served: run "crd migrate --retire v1alpha1" first');
  }
}

const metadata = { name: 'image-watcher-conversion-probe', namespace: 'default' };

/** A policy of each version with which the conversion is tried out; none of them is ever stored. */
export const conversionSamples = {
  [v1.version]: {
    apiVersion: v1.apiVersion,
    kind,
    metadata,
    spec: { image: 'example.com/probe', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'probe' }], suspend: true },
  },
  [v1alpha1.version]: {
    apiVersion: v1alpha1.apiVersion,
    kind,
    metadata,
    spec: {
      repository: 'example.com/probe',
      tagPolicy: { strategy: 'SemVer' },
      updateTarget: { kind: 'Deployment', name: 'probe', namespace: 'default' },
    },
  },
} as const;
