import { z } from 'zod';
import { fieldPathPattern } from '../../../core/model/field-path.ts';
import { withChecks, withRules } from '../rules.ts';
import { checkFieldPath } from '../validation/check-target-fields.ts';
import { checkTargetKind } from '../validation/check-targets.ts';
import { checkLabelKey, checkLabelKeys, distinct, label, targetKind, targetName, targetNamespace } from './scalars.ts';

const labelValue = z
  .string()
  .max(63)
  .regex(
    /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$/,
    'a label value has letters, digits, "-", "_" and "." between letters or digits',
  )
  .describe('The value of the label.');

const requirement = withRules(
  z
    .object({
      key: withChecks(z.string().min(1).max(317).describe('The name of the label.'), checkLabelKey),
      operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('How the values are compared.'),
      values: z.array(labelValue).max(64).exactOptional().describe('Values for In and NotIn.'),
    })
    .describe('A requirement on one label.'),
  [
    {
      rule: "!has(self.operator) || self.operator in ['In', 'NotIn'] == (has(self.values) && self.values.size() > 0)",
      message: 'In and NotIn need values; Exists and DoesNotExist take none',
    },
  ],
);

/** Schema of a label selector of Kubernetes, for objects that are called `what`. */
export const labelSelector = (what: string, description: string) =>
  withRules(
    z
      .object({
        matchLabels: withChecks(z.record(z.string(), labelValue), checkLabelKeys)
          .meta({ maxProperties: 32 })
          .exactOptional()
          .describe(`Labels that the ${what} must have, each with its value.`),
        matchExpressions: z.array(requirement).max(32).exactOptional().describe('Requirements that the labels must meet: all of them.'),
      })
      .describe(description),
    [
      {
        rule: '(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)',
        message: 'an empty selector would select everything: write matchLabels or matchExpressions',
      },
    ],
  );

/** Schema of `spec.targets[].selector`. */
const selector = labelSelector('workload', 'Selects workloads of the kind by their labels, in one namespace.');

const fieldPath = (what: string) =>
  withChecks(
    z
      .string()
      .min(1)
      .max(512)
      .regex(fieldPathPattern, 'names between dots, and [0] for the first entry of a list: "spec.values.image.tag"')
      .describe(`${what} A path such as "spec.values.image.tag".`),
    checkFieldPath,
  ).exactOptional();

const fields = withRules(
  z
    .object({
      image: fieldPath('The field that holds the whole image reference.'),
      repository: fieldPath('The field that holds the repository; by default the one that belongs to the field of the tag.'),
      tag: fieldPath('The field that holds the tag.'),
      digest: fieldPath('The field that holds the digest.'),
    })
    .describe('For custom resources without a pod template: the fields that are written.'),
  [
    {
      rule: 'has(self.image) != (has(self.tag) || has(self.digest))',
      message: 'write either image, for a field with the whole reference, or tag and digest where they have fields of their own',
    },
    {
      rule: '!has(self.image) || !has(self.repository)',
      message: 'image holds the repository already: remove repository, or write tag instead of image',
    },
  ],
);

/** Schema of one of `spec.targets`. */
export const target = withChecks(
  withRules(
    z
      .object({
        apiVersion: z
          .string()
          .min(1)
          .max(317)
          .regex(/^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?[a-z](?:[a-z0-9-]*[a-z0-9])?$/, 'group and version: "argoproj.io/v1alpha1"')
          .exactOptional()
          .describe('API version of a custom resource, such as "argoproj.io/v1alpha1"; not needed for the kinds of Kubernetes itself.'),
        kind: targetKind('Kind of the workload: Deployment, StatefulSet, DaemonSet, CronJob, or that of a custom resource.'),
        name: targetName('Name of the workload.').exactOptional(),
        selector: selector.exactOptional(),
        namespace: targetNamespace(
          "Namespace of the workload; by default the policy's own. Another one needs the consent of its owners.",
        ).exactOptional(),
        containers: distinct(
          z.array(label('Name of a container.')).min(1).max(64).describe('Only these containers; by default all that run the image.'),
        ).exactOptional(),
        initContainers: z.boolean().default(false).describe('Whether init containers that run the image are updated as well.'),
        // The field has no default, because the API server would write it into every policy, and older replicas stall on fields that they do not know.
        volumes: z
          .boolean()
          .exactOptional()
          .describe(
            'Whether volumes that hold the image (`volumes[].image.reference`) are updated as well, whatever `containers` names; by default they are not.',
          ),
        takeOver: z
          .boolean()
          .exactOptional()
          .describe(
            'Whether the first change also replaces tags of another track, such as `1.0.0-alpine` by `1.1.0`, or a tag that another policy follows; by default only in containers that `containers` names.',
          ),
        fields: fields.exactOptional(),
      })
      .describe('A workload, or the workloads that a selector matches.'),
    [
      {
        rule: 'has(self.name) != has(self.selector)',
        message: 'write either name or selector',
      },
      {
        rule: '!has(self.fields) || has(self.apiVersion)',
        message: 'fields are for custom resources: write apiVersion as well, such as helm.toolkit.fluxcd.io/v2',
      },
      {
        rule: '!has(self.fields) || !(has(self.containers) || has(self.initContainers) && self.initContainers || has(self.volumes) && self.volumes)',
        message: 'fields are for custom resources without containers: remove fields, or containers, initContainers and volumes',
      },
    ],
  ),
  checkTargetKind,
);
