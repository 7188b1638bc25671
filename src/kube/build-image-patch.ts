import type { Workload } from '../core/workload.ts';

/** One container's new image; `index` is its place in `workload.containers`. */
export interface ImageChange {
  readonly container: string;
  readonly index: number;
  readonly from: string;
  readonly to: string;
}

/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'test' | 'replace' | 'add';
  readonly path: string;
  readonly value: unknown;
}

const changeCauseAnnotation = 'kubernetes.io/change-cause';

/**
 * The smallest patch for all changes of a workload. It applies only while each container is still where it was and still has its old image:
 *
 *     test    …/containers/0/name    web                     for each change
 *     test    …/containers/0/image   shop/web:1.4.1
 *     replace …/containers/0/image   shop/web:1.4.2
 *     add     …/annotations/kubernetes.io~1change-cause      or, where there are no annotations: test null, add {…}
 */
export function buildImagePatch(
  workload: Pick<Workload, 'containersPath' | 'hasAnnotations'>,
  changes: readonly ImageChange[],
  changeCause: string,
): PatchOperation[] {
  const images = changes.flatMap(({ container, index, from, to }): PatchOperation[] => {
    const path = `${workload.containersPath}/${index}`;
    return [
      { op: 'test', path: `${path}/name`, value: container },
      { op: 'test', path: `${path}/image`, value: from },
      { op: 'replace', path: `${path}/image`, value: to },
    ];
  });
  return [...images, ...annotate(workload.hasAnnotations, changeCause)];
}

function annotate(hasAnnotations: boolean, changeCause: string): PatchOperation[] {
  if (hasAnnotations) return [{ op: 'add', path: `/metadata/annotations/${escapePointer(changeCauseAnnotation)}`, value: changeCause }];
  // Without the test, annotations that somebody added meanwhile would be lost.
  return [
    { op: 'test', path: '/metadata/annotations', value: null },
    { op: 'add', path: '/metadata/annotations', value: { [changeCauseAnnotation]: changeCause } },
  ];
}

/** RFC 6901 §3. */
function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
