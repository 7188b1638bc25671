/** Changes of policies that no list shows. */
import { isDeepStrictEqual } from 'node:util';
import type { ImagePolicy } from '../../core/model/image-policy.ts';

/** Whether a policy only says that it was checked again, which each poll does. */
export function isOnlyChecked(object: ImagePolicy, previous: ImagePolicy | undefined): boolean {
  return previous !== undefined && previous.spec === object.spec && isDeepStrictEqual(withoutCheck(previous), withoutCheck(object));
}

function withoutCheck({ spec: _spec, resourceVersion: _version, status, ...policy }: ImagePolicy): object {
  const { lastCheckTime: _time, ...rest } = status;
  return { ...policy, ...rest };
}
