/** The kind NotificationTarget as a part of the API group. */
import { readyColumns } from '../../service/resources/columns.ts';
import { apiVersion } from '../../service/resources/group.ts';
import type { AddedKind } from '../../service/resources/kinds.ts';
import { targetSchema, targetSpecSchema } from './schema.ts';

export const notificationTarget: AddedKind = {
  kind: 'NotificationTarget',
  plural: 'notificationtargets',
  shortName: 'ntarget',
  schema: targetSchema,
  specSchema: targetSpecSchema,
  withoutIt: 'namespaces cannot have notification targets of their own',
  columns: [{ name: 'Type', type: 'string', jsonPath: '.spec.type' }, ...readyColumns],
};

export const notificationTargetResource = { apiVersion, resource: notificationTarget.plural };
