/** What is said about policies that follow others, and about what a followed policy runs, in Chinese. */
export const environmentsZh: Readonly<Record<string, string>> = {
  'the image that the policies of select.proven run': 'select.proven 的策略所运行的镜像',
  '{0} does not hold {1} ({2}), which the followed policies run: copy it, with all its platforms':
    '{0} 中没有被跟随的策略所运行的 {1}（{2}）：请复制它，包括它的所有平台',
  'nothing is selected yet: {0}': '还没有选中任何内容：{0}',
  'nothing newer is proven: {0}': '没有更新的镜像得到验证：{0}',
  '{0} ({1}) is no image that can run: {2}': '{0}（{1}）不是可以运行的镜像：{2}',
  '{0} is not proven: {1}': '{0} 未经验证：{1}',
  '{0} is not proven: nothing is known of the policies': '{0} 未经验证：对这些策略一无所知',
  '{0} has to run in {1} for {2}: until {3}': '{0} 须在 {1} 中运行 {2}：到 {3} 为止',
  '{0} runs {1} ({2}…) since {3}': '{0} 运行 {1}（{2}…），开始于 {3}',
  '{0}; it is promoted, and waits until one of them runs it, complete and available':
    '{0}；它已被提前放行，正在等待其中一个策略以完整且可用的状态运行它',
  '{0} is not applied, because the policy is on hold ({1}). It is applied when it is promoted, or when the hold is released: annotation {2}: "<time>"':
    '没有应用 {0}，因为策略已被冻结（{1}）。提前放行它或解除搁置后会应用：注解 {2}: "<time>"',
  '{0} is not applied, because the policy is on hold ({1}). It is applied when it is promoted, or when the hold is released':
    '没有应用 {0}，因为策略已被冻结（{1}）。提前放行它或解除搁置后会应用',
  '{0} is not applied, because the policy is on hold ({1}). It is applied when it is promoted, or when the hold is released with {2}':
    '没有应用 {0}，因为策略已被冻结（{1}）。提前放行它或用 {2} 解除搁置后会应用',
  '{0} is not applied, because the policy is on hold ({1}). The annotation {2} does not begin with a time such as 2026-01-31T12:00:00Z: remove it to end the hold':
    '没有应用 {0}，因为策略已被冻结（{1}）。注解 {2} 不是以 2026-01-31T12:00:00Z 这样的时间开头：请移除它来结束冻结',
  'on hold ({0}): only what is promoted is applied': '已冻结（{0}）：只应用提前放行的镜像',
  'since {0} by {1}': '自 {0} 起，由 {1}',
  'since {0}': '自 {0} 起',
  'no image waits for its proof, or because of a hold': '没有镜像在等待验证，也没有镜像因冻结而等待',
  'the annotation {0} does not begin with a time: remove it to end the hold': '注解 {0} 不是以时间开头：请移除它来结束冻结',
  'nothing is selected yet: the policies that it follows run no common image': '还没有选中任何内容：被跟随的策略没有运行同一个镜像',
  'none of the policies that it follows runs {0}, complete and available: {1}': '被跟随的策略都没有以完整且可用的状态运行 {0}：{1}',
  '{0}@{1} waits, and not {2}@{3}': '等待的是 {0}@{1}，而不是 {2}@{3}',
  'when it is released, or its image is promoted': '届时它被解除搁置，或它的镜像被提前放行',
  'it shows no image': '它没有给出镜像',
  'other policies are not known here': '这里不知道其他策略',
  'it is in another namespace, and the configuration says crossNamespace: deny': '它在另一个命名空间，而配置为 crossNamespace: deny',
  'it either does not exist or its owners have not consented: {0}': '它不存在，或者它的所有者没有同意：{0}',
  'it does not exist': '它不存在',
  'its spec cannot be used': '无法使用它的 spec',
  'its rollouts are not watched': '不跟踪它的滚动更新',
  'its rollouts are not watched: write rollout.watch: true in it': '不跟踪它的滚动更新：请在其中写 rollout.watch: true',
  'it pins tags, and a tag may have moved since its pods started: write update.pin: Digest in it':
    '它固定的是标签，而标签可能在它的 Pod 启动之后移动过：请在其中写 update.pin: Digest',
  'it has changed and has not been evaluated since': '它已修改，此后尚未评估',
  'its status does not show that all of its targets run one image, complete and available':
    '它的状态没有表明其所有目标都以完整且可用的状态运行同一个镜像',
  'the policies follow each other in a circle: remove one of them from select.proven or update.after':
    '这些策略循环地互相跟随：请从 select.proven 或 update.after 中移除其中一个',
  'when the policies that it follows have run it for as long as the policy asks for (select.proven, update.after)':
    '届时被跟随的策略已运行它达到策略所要求的时长（select.proven、update.after）',

  'a target does not exist': '一个目标不存在',
  'none of its targets rolls out': '它的目标都没有滚动更新',
  '{0} does not run its repository': '{0} 没有运行它的仓库的镜像',
  '{0} runs an image without a digest': '{0} 运行的镜像没有摘要',
  'its targets run different images': '它的目标运行不同的镜像',
  'it has no targets': '它没有目标',
  'what it runs has been rejected': '它所运行的镜像已被拒绝',
  'it writes fields of custom resources, whose pods are not known': '它写入定制资源的字段，而它们的 Pod 未知',
  'it writes fields of custom resources, whose pods are not known: follow a policy that changes workloads':
    '它写入定制资源的字段，而它们的 Pod 未知：请跟随修改工作负载的策略',
  '{0} is not complete and available': '{0} 不是完整且可用的状态',
  'nobody follows it': '没有策略跟随它',

  'a tag may move to an image that nobody has run: with select.proven and update.after, remove pin, or write Digest':
    '标签可能移动到没有人运行过的镜像：使用 select.proven 和 update.after 时，请移除 pin，或写 Digest',
  'what ImagePolicy {0} runs cannot be read: {1}': '无法读取 ImagePolicy {0} 所运行的镜像：{1}',
  'the targets of ImagePolicy {0} do not run what its status says': 'ImagePolicy {0} 的目标没有运行其状态所说的镜像',
  'select.proven selects images by what other policies run: remove tags, artifact, alongside and update.after':
    'select.proven 按其他策略运行的镜像来选择：请移除 tags、artifact、alongside 和 update.after',
  'names the same policy twice: remove one of them': '两次写出同一个策略：请移除其中一个',
};
