/** The definitions of the kinds that have one version and no conversion. */
import type { z } from 'zod';
import { baseSchema } from '../../bases/resource/schema.ts';
import { toYaml, withMetadata } from './crd.ts';
import { baseCrdName, baseKind, basePlural, baseShortName, group, notificationTargetKind, notificationTargetPlural } from './group.ts';
import { targetSchema } from '../../notify/resource/schema.ts';
import { toStructuralSchema } from './structural-schema.ts';
import { version } from './v1.ts';

/** A kind, and what `kubectl get` prints of it; only -o wide prints columns of priority 1. */
interface PlainKind {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly crdName: string;
  readonly schema: z.ZodType;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly jsonPath: string; readonly priority?: number }[];
}

const ready = '.status.conditions[?(@.type=="Ready")]';
const readyColumns = [
  { name: 'Ready', type: 'string', jsonPath: `${ready}.status` },
  { name: 'Reason', type: 'string', jsonPath: `${ready}.reason` },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Message', type: 'string', jsonPath: `${ready}.message`, priority: 1 },
];

const kinds: readonly PlainKind[] = [
  {
    kind: baseKind,
    plural: basePlural,
    shortName: baseShortName,
    crdName: baseCrdName,
    schema: baseSchema,
    columns: [
      { name: 'Image', type: 'string', jsonPath: '.spec.image' },
      { name: 'Latest', type: 'string', jsonPath: '.status.latest.tag' },
      { name: 'Images', type: 'integer', jsonPath: '.status.images.total' },
      { name: 'Current', type: 'integer', jsonPath: '.status.images.current' },
      { name: 'Behind', type: 'integer', jsonPath: '.status.images.behind' },
      { name: 'Unknown', type: 'integer', jsonPath: '.status.images.unknown', priority: 1 },
      ...readyColumns,
    ],
  },
  {
    kind: notificationTargetKind,
    plural: notificationTargetPlural,
    shortName: 'ntarget',
    crdName: `${notificationTargetPlural}.${group}`,
    schema: targetSchema,
    columns: [{ name: 'Type', type: 'string', jsonPath: '.spec.type' }, ...readyColumns],
  },
];

/** A definition, and how it is named. */
export interface PlainDefinition {
  readonly kind: string;
  readonly plural: string;
  readonly name: string;
  readonly object: ReturnType<typeof definitionOf>;
  /** The content of crd/<plural>.yaml. */
  readonly yaml: string;
}

/** All of them, in the order in which they are applied. */
export const plainDefinitions: readonly PlainDefinition[] = kinds.map((one) => {
  const object = definitionOf(one);
  return { kind: one.kind, plural: one.plural, name: one.crdName, object, yaml: toYaml(object) };
});

/** The definition of a kind; throws for any other. */
export function plainDefinition(kind: string): PlainDefinition {
  const found = plainDefinitions.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`there is no definition of ${kind}`);
  return found;
}

function definitionOf({ kind, plural, shortName, crdName, schema, columns }: PlainKind) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: crdName },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: [shortName] },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: withMetadata(toStructuralSchema(schema), kind) },
          subresources: { status: {} },
          additionalPrinterColumns: columns,
        },
      ],
    },
  };
}
