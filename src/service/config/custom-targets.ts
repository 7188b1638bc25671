/** Fields of custom resources that policies may write, besides the built-in ones. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { fieldPatternPattern } from '../../core/model/field-path.ts';
import { ruleOfPath, ruleProblem, whyNever, type FieldRule } from '../../core/model/field-rules.ts';
import { tryParseImageReference } from '../../core/model/image-reference.ts';

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
          .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/[a-z](?:[a-z0-9-]*[a-z0-9])?$/, 'group and version: helm.toolkit.fluxcd.io/v2')
          .describe('The API group and version.'),
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
      })
      .superRefine((target, context) => {
        const message = whyNever(target);
        if (message !== undefined) context.addIssue({ code: 'custom', path: ['kind'], message });
      })
      .describe('A kind, with the fields that policies may write.'),
  )
  .max(256)
  .default([])
  .describe(
    "Fields of custom resources that policies may write, in addition to the built-in ones. Kubernetes' own API groups are not allowed.",
  );
