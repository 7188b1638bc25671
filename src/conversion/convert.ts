/** Conversion of ImagePolicy between v1alpha1 and v1. It is pure, and never fails: one refused object makes a whole list fail. */
import { mergeSpec, projectSpec, withoutOurPattern } from './specs/convert-spec.ts';
import { readOldStatus, writeOldStatus } from './specs/convert-status.ts';
import {
  readOldSpec,
  writeOldSpec,
  editedOrigin,
  newOrigin,
  originAnnotation,
  readOrigin,
  writeOrigin,
  type Origin,
} from './specs/old-spec.ts';
import { textOf, withField, withPart } from './specs/read-json.ts';
import { isObject, type JsonObject } from '../core/model/untyped.ts';
import { readSaved, savedAnnotation, writeSaved } from './specs/saved-v1.ts';
import * as v1 from '../service/resources/v1.ts';
import * as v1alpha1 from './v1alpha1.ts';

/**
 * The object in the desired API version ("operator.technomad.dev/v1"). Throws only for an unknown desired version, never because of the content of the object.
 * The v1alpha1 view carries the complete v1 spec in one annotation and the complete v1 status in one field of its status, and an edit of the view changes only
 * the v1 fields that correspond to the edited ones. Metadata never becomes status.
 */
export function convertObject(object: unknown, desiredApiVersion: string): unknown {
  assertKnownVersion(desiredApiVersion);
  if (!isObject(object) || object['apiVersion'] === desiredApiVersion) return object;
  if (object['apiVersion'] === v1.apiVersion) return toV1alpha1(object);
  if (object['apiVersion'] === v1alpha1.apiVersion) return toV1(object);
  // The object has an unknown version: the reader of the policy reports the problem.
  return { ...object, apiVersion: desiredApiVersion };
}

/** Throws for an API version that objects cannot be converted to. */
export function assertKnownVersion(apiVersion: string): void {
  if (apiVersion !== v1.apiVersion && apiVersion !== v1alpha1.apiVersion)
    throw new Error(`there is no API version "${apiVersion}": write ${v1.apiVersion} or ${v1alpha1.apiVersion}`);
}

function toV1alpha1(object: JsonObject): JsonObject {
  const { spec, status } = object;
  const { annotations, namespace } = readMetadata(object);
  const view = isObject(spec) ? writeOldSpec(projectSpec(spec, readOrigin(annotations), namespace)) : undefined;
  const saved = writeSaved(spec, annotations);
  return assemble(object, v1alpha1.apiVersion, {
    spec: view,
    status: isObject(status) ? writeOldStatus(status) : undefined,
    annotations: withField(annotations, savedAnnotation, saved),
  });
}

function toV1(object: JsonObject): JsonObject {
  const { status } = object;
  const { annotations } = readMetadata(object);
  const { spec, origin } = mergeWrittenSpec(object, readSaved(annotations[savedAnnotation]));
  const text = isSameOrigin(origin, readOrigin(annotations)) ? annotations[originAnnotation] : writeOrigin(origin);
  return assemble(object, v1.apiVersion, {
    spec,
    status: isObject(status) ? readOldStatus(status) : undefined,
    annotations: withField(withField(annotations, savedAnnotation, undefined), originAnnotation, text),
  });
}

function mergeWrittenSpec(object: JsonObject, saved: unknown): { spec: unknown; origin: Origin } {
  const { annotations, namespace } = readMetadata(object);
  const origin = readOrigin(annotations);
  const raw = object['spec'];
  if (!isObject(raw)) return { spec: isObject(saved) ? undefined : saved, origin };
  const read = readOldSpec(raw);
  if (!isObject(saved)) return { spec: mergeSpec({}, { shown: {}, written: read, namespace }), origin: newOrigin(read) };
  const shown = projectSpec(saved, origin, namespace);
  const written = withoutOurPattern(read, shown);
  return { spec: mergeSpec(saved, { shown, written, namespace }), origin: editedOrigin(origin, shown, written) };
}

function isSameOrigin(left: Origin, right: Origin): boolean {
  return writeOrigin(left) === writeOrigin(right);
}

function readMetadata(object: JsonObject): { annotations: JsonObject; namespace: string | undefined } {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  return { annotations: isObject(metadata['annotations']) ? metadata['annotations'] : {}, namespace: textOf(metadata['namespace']) };
}

/** Assembles the converted object from the original: the API server refuses changes other than of version, spec, status and annotations. */
function assemble(
  object: JsonObject,
  apiVersion: string,
  { spec, status, annotations }: { spec: unknown; status: unknown; annotations: JsonObject },
): JsonObject {
  const metadata = object['metadata'] ?? {};
  const result = { ...object, apiVersion, metadata: isObject(metadata) ? withPart(metadata, 'annotations', annotations) : metadata };
  return withField(withField(result, 'spec', spec), 'status', status);
}
