/** The kinds BaseImagePolicy and BaseImageRecord as parts of the API group. */
import { readyColumns } from '../../service/resources/columns.ts';
import { baseKind, basePlural, baseShortName, recordKind, recordPlural, recordShortName } from '../../service/resources/group.ts';
import type { AddedKind } from '../../service/resources/kinds.ts';
import { recordSchema, recordSpecSchema } from '../record/seen-version.ts';
import { baseSchema, baseSpecSchema } from './schema.ts';

export const baseImagePolicy: AddedKind = {
  kind: baseKind,
  plural: basePlural,
  shortName: baseShortName,
  schema: baseSchema,
  specSchema: baseSpecSchema,
  withoutIt: 'there are no policies for base images',
  columns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Latest', type: 'string', jsonPath: '.status.latest.tag' },
    { name: 'Images', type: 'integer', jsonPath: '.status.images.total' },
    { name: 'Current', type: 'integer', jsonPath: '.status.images.current' },
    { name: 'Behind', type: 'integer', jsonPath: '.status.images.behind' },
    { name: 'Unknown', type: 'integer', jsonPath: '.status.images.unknown', priority: 1 },
    ...readyColumns,
  ],
};

export const baseImageRecord: AddedKind = {
  kind: recordKind,
  plural: recordPlural,
  shortName: recordShortName,
  schema: recordSchema,
  specSchema: recordSpecSchema,
  withoutIt: 'the versions of base images cannot be remembered, and no BaseImagePolicy is reconciled',
  recordsOf: baseKind,
  columns: [
    { name: 'Policy', type: 'string', jsonPath: '.metadata.ownerReferences[0].name' },
    { name: 'Tags', type: 'string', jsonPath: '.spec.versions[*].tags[0]', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
