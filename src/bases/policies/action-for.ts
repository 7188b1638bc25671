/** The action of a BaseImagePolicy that applies to an image. Pure. */
import type { BaseAction } from '../../core/model/base-policy.ts';
import type { Repository } from '../../core/model/image-reference.ts';
import { matchesRepository } from '../../core/model/repository-pattern.ts';

/** The first action that applies to an image. The action `report` applies to every image. */
export function actionFor({ source }: { readonly source: Repository }, actions: readonly BaseAction[]): BaseAction {
  return (
    actions.find((action) => action.kind === 'report' || action.images.some((pattern) => matchesRepository(pattern, source))) ?? {
      kind: 'report',
    }
  );
}
