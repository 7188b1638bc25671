/** Fields of custom resources that policies may write, besides the built-in ones, and the ConfigMaps that they may write. */
import { z } from 'zod';
import { isConfigMap, restartedKinds } from '../../core/model/config-map-target.ts';
import { defined } from '../../core/model/defined.ts';
import { fieldPatternPattern } from '../../core/model/field-path.ts';
import { ruleOfPath, ruleProblem, whyNever, type CustomTarget, type FieldRule } from '../../core/model/field-rules.ts';
import { tryParseImageReference } from '../../core/model/image-reference.ts';

const namespace = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'a namespace: lower-case letters, digits and "-"');
const objectName = z
  .string()
  .max(253)
  .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, 'a name: lower-case letters, digits, "-" and "."');

const fieldPath = z
  .string()
  .max(512)
  .regex(
    fieldPatternPattern,
    'names between dots, [0] for the first entry of a list; between the first and the last name also the wildcards *, [*] and **: spec.values.**.image.tag',
  );
const repository = z.string().refine((text) => {
  const image = tryParseImageReference(text, new Map());
  return image !== undefined && image.tag === undefined && image.digest === undefined;
}, 'must be a repository without a tag or digest: registry.example.com/shop/web');

const field = z
  .union(
    [
      fieldPath,
      z.strictObject({
        path: fieldPath.describe('The field.'),
        repository: fieldPath.optional().describe('The field that holds the repository of this image.'),
        image: repository.optional().describe('The one repository whose tags may be written, where the resource does not name it.'),
      }),
    ],
    { error: 'a path such as spec.image.tag, or {path, repository: PATH} or {path, image: REPOSITORY}' },
  )
  .describe('A field.')
  .transform((written): FieldRule => {
    if (typeof written === 'string') return ruleOfPath(written);
    const { path, repository, image } = written;
    return { path, ...defined({ repository, image }) };
  })
  .superRefine((rule, context) => {
    const message = ruleProblem(rule);
    if (message !== undefined) context.addIssue({ code: 'custom', message: `${rule.path}: ${message}` });
  });

export const customTargets = z
  .array(
    z
      .strictObject({
        apiVersion: z
          .string()
          .regex(
            /^(?:v1|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/[a-z](?:[a-z0-9-]*[a-z0-9])?)$/,
            'group and version: helm.toolkit.fluxcd.io/v2; v1 for a ConfigMap',
          )
          .describe('The API group and version; v1 for a ConfigMap.'),
        kind: z
          .string()
          .regex(/^[A-Z][A-Za-z0-9]*$/, 'a kind as Kubernetes writes it, such as HelmRelease')
          .describe('The kind.'),
        fields: z
          .array(field)
          .min(1)
          .max(64)
          .describe(
            'The fields that policies may write. A path or a pattern for a tag whose repository is in the field `repository` beside it; `{path, repository: PATH}` if the repository is in another field; `{path, image: REPOSITORY}` if the resource does not name the repository; `{path}` for a whole image reference. See [Fields of custom resources](targets.md#fields-of-custom-resources).',
          ),
        namespace: namespace.optional().describe('Only for a ConfigMap, which is named: its namespace.'),
        name: objectName.optional().describe('Only for a ConfigMap: its name. Policies write no other ConfigMap.'),
        restarts: z
          .array(
            z
              .strictObject({
                kind: z.enum(restartedKinds).describe('Its kind.'),
                name: objectName.describe('Its name.'),
              })
              .describe('A workload in the namespace of the ConfigMap.'),
          )
          .max(16)
          .optional()
          .describe(
            'Only for a ConfigMap: the workloads that are restarted once after each change of it, as `kubectl rollout restart` does. See [ConfigMaps](targets.md#configmaps).',
          ),
      })
      .transform(({ namespace: of, name, restarts, ...target }): CustomTarget => ({
        ...target,
        ...defined({ namespace: of, name, restarts }),
      }))
      .superRefine((target, context) => {
        const message = whyNever(target);
        if (message !== undefined) context.addIssue({ code: 'custom', path: ['kind'], message });
        else for (const problem of problemsOfObject(target)) context.addIssue({ code: 'custom', ...problem });
      })
      .describe('A kind, or a ConfigMap, with the fields that policies may write.'),
  )
  .max(256)
  .default([])
  .describe(
    "Fields of custom resources that policies may write, in addition to the built-in ones, and ConfigMaps. Other kinds of Kubernetes' own API groups are not allowed.",
  );

interface ObjectProblem {
  readonly path: (string | number)[];
  readonly message: string;
}

/** What is wrong with the object that a custom target names. A ConfigMap may hold anything, so its key and its repository are always fixed. */
function problemsOfObject(target: CustomTarget): readonly ObjectProblem[] {
  if (!isConfigMap(target))
    return (['namespace', 'name', 'restarts'] as const).flatMap((key) =>
      target[key] === undefined ? [] : [{ path: [key], message: 'is only for a ConfigMap: remove it' }],
    );
  const missing = (['namespace', 'name'] as const).flatMap((key) =>
    target[key] === undefined ? [{ path: [key], message: 'is missing: policies may write single ConfigMaps only, so name this one' }] : [],
  );
  return [
    ...missing,
    ...target.fields.flatMap((rule, index) => problemsOfKey(rule).map((message) => ({ path: ['fields', index], message }))),
  ];
}

function problemsOfKey({ path, image }: FieldRule): string[] {
  const problems: string[] = [];
  // The name of the annotation with the record of the change has the path, and at most 63 characters.
  if (!/^data\.[A-Za-z0-9_-]{0,57}[A-Za-z0-9]$/.test(path))
    problems.push(
      `${path}: name a key of data that has letters, digits, "-" and "_", at most 58, and ends with a letter or digit: data.image`,
    );
  if (image === undefined) problems.push(`${path}: write {path: ${path}, image: REPOSITORY}, the one repository that may be written there`);
  return problems;
}
