/** The Chinese texts of the reasons of conditions and of BaseImagePolicies, by the English ones. */
export const chineseBases: Readonly<Record<string, string>> = {
  // conditions
  'Whether every target runs what the policy selects, or is intentionally kept from it.':
    '每个目标是否都运行策略选择的镜像，或者按照意图不运行它。',
  'Always, True or False; also in `kubectl get ipol`, with its reason; `-o wide` adds the message.':
    '始终存在，为 True 或 False；也显示在 `kubectl get ipol` 中，并附有原因；`-o wide` 再加上消息。',
  'True: the targets are up to date and rolled out, or the policy is suspended, a dry run, waits for approval, or is held. False: `Reconciling` or `Stalled` is True as well, with the same reason.':
    'True：目标已是最新并已完成滚动更新，或者策略处于挂起、试运行、等待批准或保留。False：`Reconciling` 或 `Stalled` 也为 True，原因相同。',
  '`kubectl wait --for=condition=Ready ipol/NAME` waits until what is selected runs everywhere. If it is False, read its reason.':
    '`kubectl wait --for=condition=Ready ipol/NAME` 等待选中的镜像在各处运行。如果它为 False，请看它的原因。',
  'image-watcher is at work, or waits, and continues without a user.': 'image-watcher 正在工作或等待，不需要用户就会继续。',
  'Only while it is True; `Ready` is then False. If attempts fail, a Warning Event is recorded after the first one, and then once an hour for each reason.':
    '仅在 True 时存在；此时 `Ready` 为 False。如果尝试失败，第一次失败后记录一个 Warning Event，之后每个原因每小时记录一次。',
  'A rollout is in progress, an attempt failed and is repeated, a registry asked for a pause, or the selected image waits for its age or for a window. `status.waiting` shows until when.':
    '正在滚动更新，或者一次尝试失败并会重复，或者镜像仓库要求暂停，或者选中的镜像在等待达到时长或等待窗口。`status.waiting` 显示等到什么时候。',
  'Nothing, unless it lasts: then its message shows what fails.': '什么都不用做，除非它持续不变：此时它的消息说明什么失败了。',
  'A user has to act: the policy makes no progress by itself.': '用户必须处理：策略自己不会再有进展。',
  'Only while it is True; `Ready` is then False. A Warning Event is recorded when the reason or the message changes.':
    '仅在 True 时存在；此时 `Ready` 为 False。原因或消息改变时记录一个 Warning Event。',
  'The policy, a target, the image, the credentials or a permission has a problem that retrying cannot solve.':
    '策略、目标、镜像、凭据或权限有问题，重试无法解决。',
  'Do what the message and the section of its reason say. Most reasons clear as soon as the policy, its targets or its Secrets change; a push, a poll or `image-watcher check NS/NAME` tries again as well.':
    '按照消息和该原因的小节去做。策略、目标或 Secret 一有变化，大多数原因就会消除；推送、轮询或 `image-watcher check NS/NAME` 也会再次尝试。',
  'An image waits for the approval of a user.': '有镜像等待用户批准。',
  'Only while it is True; `Ready` stays True.': '仅在 True 时存在；`Ready` 仍为 True。',
  '`spec.update.mode` is `Approval`; `status.pendingApproval` holds the tag and the digest.':
    '`spec.update.mode` 为 `Approval`；`status.pendingApproval` 包含标签和摘要。',
  'Run `image-watcher approve NS/NAME`.': '运行 `image-watcher approve NS/NAME`。',
  'A target keeps another image than the selected one.': '有目标保留了选中镜像以外的另一个镜像。',
  'Only while it is True. `Ready` stays True, unless the reason is [`RolloutFailed`](#rolloutfailed).':
    '仅在 True 时存在。`Ready` 仍为 True，除非原因是 [`RolloutFailed`](#rolloutfailed)。',
  'A manual change ([`Held`](#held)), a rollback that a user requested ([`RejectedDigest`](#rejecteddigest)), a paused Deployment ([`TargetPaused`](#targetpaused)), or a failed rollout with `onFailure: Hold`.':
    '手动修改（[`Held`](#held)）、用户请求的回滚（[`RejectedDigest`](#rejecteddigest)）、暂停的 Deployment（[`TargetPaused`](#targetpaused)），或者设置了 `onFailure: Hold` 时滚动更新失败。',
  'Nothing if that is intended. Push something newer, or run `image-watcher release NS/NAME`; a paused Deployment must be resumed.':
    '如果这正是意图，什么都不用做。否则推送更新的镜像，或运行 `image-watcher release NS/NAME`；暂停的 Deployment 必须恢复。',
  'The registry no longer has the tag that a target runs.': '镜像仓库中不再有目标运行的标签。',
  'Only while it is True; `Ready` does not change.': '仅在 True 时存在；`Ready` 不变。',
  'See the reason [`TagGone`](#taggone).': '见原因 [`TagGone`](#taggone)。',
  'Push the tag again, or a newer one.': '再次推送该标签，或推送更新的标签。',
  'The policy updates targets in other namespaces whose owners have not consented.':
    '策略更新其他命名空间中的目标，而它们的所有者没有同意。',
  'Only while it is True; `Ready` does not change. Its reason is [`NoConsent`](#noconsent).':
    '仅在 True 时存在；`Ready` 不变。它的原因是 [`NoConsent`](#noconsent)。',
  'The setting `crossNamespace` is `legacy`, which keeps policies of older versions working during an upgrade.':
    '设置 `crossNamespace` 为 `legacy`，它让旧版本的策略在升级期间继续有效。',
  'Run `image-watcher consents` and add the consents that it lists; then set `crossNamespace: consent` ([upgrading](upgrading.md#targets-in-other-namespaces)).':
    '运行 `image-watcher consents`，添加它列出的同意；然后设置 `crossNamespace: consent`（[升级说明](upgrading.md#targets-in-other-namespaces)）。',
  // ofBases
  'Images are built on an older version of the base than the selected one.': '有镜像基于选中版本以外的基础镜像版本构建。',
  '`Ready` of the BaseImagePolicy is True; `status.images.behind` counts the images, `status.dependents` lists the first.':
    'BaseImagePolicy 的 `Ready` 为 True；`status.images.behind` 给出镜像的数量，`status.dependents` 列出最前面的镜像。',
  'Workloads run images that are built on an older version of the base than `status.latest`.':
    '工作负载运行的镜像基于 `status.latest` 以外的基础镜像版本构建。',
  '`status.dependents[].action` and its message say what is done about each image. With `report` alone, nothing is: add an action to `onNewBase`, or rebuild the image.':
    '`status.dependents[].action` 和它的消息说明如何处理每个镜像。只有 `report` 时不做任何处理：请在 `onNewBase` 中添加操作，或重新构建镜像。',
  'Rollouts of images on the base failed, and it is not used again.': '基于该基础镜像的镜像滚动更新失败，不再使用该基础镜像。',
  '[`Stalled`](#condition-stalled) of the BaseImagePolicy; the base is in `status.rejected`.':
    'BaseImagePolicy 的 [`Stalled`](#condition-stalled)；基础镜像列在 `status.rejected` 中。',
  'As many rollouts failed as `waves.maxFailures` allows. No further workload is changed, and those that were changed are rolled back.':
    '滚动更新失败的次数达到了 `waves.maxFailures`。不再修改其他工作负载，已修改的工作负载被回滚。',
  'Read the message, and push a mended base. To try the same base again, annotate the policy with `operator.technomad.dev/release: TIME`, a time after that of the rejection.':
    '查看消息，并推送修复后的基础镜像。要再次尝试同一个基础镜像，请给策略加上注解 `operator.technomad.dev/release: TIME`，其时间晚于拒绝的时间。',
  'The layers of the image may not be replaced by those of the base.': '镜像的层不可以替换为基础镜像的层。',
  '`status.dependents` with the state `Refused`.': '`status.dependents` 中状态为 `Refused`。',
  "The base's layers cannot be replaced in this image, or the new base changes something that the image relies on. The message names the rule.":
    '无法在该镜像中替换基础镜像的层，或者新的基础镜像改变了该镜像所依赖的内容。消息指出是哪条规则。',
  'Rebuild the image, or, if you accept the change, name the rule in `rebase.allow`.':
    '重新构建镜像；如果你接受这一改变，请在 `rebase.allow` 中写出该规则。',
  'Workloads name the image by its digest alone, so that a rebased image has no tag to be called after.':
    '工作负载只按摘要指出镜像，因此变基后的镜像没有可以沿用的标签。',
  'The workloads name the image by its digest alone. The tag of a rebased image is made of the tag before.':
    '工作负载只按摘要指出镜像。变基后镜像的标签由以前的标签构成。',
  'Name the image by tag and digest, or rebuild it.': '同时按标签和摘要指出镜像，或重新构建它。',
  'The image does not say which source it is built from.': '镜像没有指出它由哪个源代码仓库构建。',
  '`status.dependents` with the state `Behind` and the action `trigger`.': '`status.dependents` 中状态为 `Behind`，操作为 `trigger`。',
  'The image has no annotation or label `org.opencontainers.image.source`, or has inherited that of its base, and the policy says `$source`; or it names a repository on another host, or one that is none of `sources`.':
    '镜像没有注解或标签（label）`org.opencontainers.image.source`，或者继承了基础镜像的，而策略写的是 `$source`；或者它指出另一个主机上的仓库，或不在 `sources` 之列的仓库。',
  'Let the build write the annotation, or name the repository in the policy.': '让构建写入该注解，或在策略中写出仓库。',
  'The CI system has not accepted the request for a rebuild yet.': 'CI 系统还没有接受重新构建的请求。',
  '`status.dependents` with the state `Requested`.': '`status.dependents` 中状态为 `Requested`。',
  'The request for a rebuild is stored, and the CI system has not accepted it yet.': '重新构建的请求已存储，CI 系统还没有接受它。',
  'Nothing: it is retried for a day. If it lasts, the message says what the CI system answers.':
    '什么都不用做：一天之内会重试。如果它持续不变，消息说明 CI 系统如何答复。',
  'The CI system refused the request for a rebuild.': 'CI 系统拒绝了重新构建的请求。',
  '`status.dependents` with the state `Failed`; `status.requests[].message`.':
    '`status.dependents` 中状态为 `Failed`；`status.requests[].message`。',
  'The CI system refused the request: the token, the project or the workflow is wrong.': 'CI 系统拒绝了请求：令牌、项目或工作流不正确。',
  'Correct what the message names. The request is sent again for the next base, or when the policy is changed.':
    '改正消息指出的问题。对下一个基础镜像，或在策略修改时，会再次发送请求。',
  'A rebuild was requested, and its image has not come in time.': '已请求重新构建，但它的镜像没有按时到来。',
  '`status.dependents` with the state `RebuildOverdue`.': '`status.dependents` 中状态为 `RebuildOverdue`。',
  'The CI system accepted the request, and after `rebuildWithin` no workload runs an image on the new base.':
    'CI 系统接受了请求，但在 `rebuildWithin` 之后，没有工作负载运行基于新基础镜像的镜像。',
  'Look at the pipeline of the source in `status.requests`. If the image was pushed, `image-watcher explain` shows why its ImagePolicy does not use it.':
    '查看 `status.requests` 中源代码仓库的流水线。如果镜像已推送，`image-watcher explain` 说明为什么它的 ImagePolicy 没有使用它。',
  'No image is known to be behind its base, but some could not be compared with all its versions.':
    '没有已知落后于基础镜像的镜像，但有些镜像未能与其所有版本比较。',
  '`Ready` of the BaseImagePolicy is True; `status.images.unknown` counts the images, `status.versions.unread` the tags of the base that images are not compared with.':
    'BaseImagePolicy 的 `Ready` 为 True；`status.images.unknown` 是镜像的数量，`status.versions.unread` 是未与镜像比较的基础镜像标签的数量。',
  'No image is known to be behind, but not all are known to be current: an image begins with the lowest layers of the base and with no known version of it, names a version that the registry does not have any more, or cannot be read; or not all tags of the base could be read.':
    '没有已知落后的镜像，但并非所有镜像都已知是最新的：某个镜像以基础镜像的最底层开头，却不以任何已知版本开头；或者它指出的版本已不在镜像仓库中；或者它无法读取；或者基础镜像的标签没有全部读取。',
  'Read `status.dependents[].message` of the images that are `Unknown`. Let their builds name the base (`org.opencontainers.image.base.name` and `.digest`), build them anew, or leave their workloads out of `workloads`.':
    '查看状态为 `Unknown` 的镜像的 `status.dependents[].message`。让它们的构建写明基础镜像（`org.opencontainers.image.base.name` 和 `.digest`），重新构建它们，或不在 `workloads` 中选择它们的工作负载。',
  // a base in between
  'A base that the image is built on as well is brought forward first, by its own BaseImagePolicy.':
    '该镜像所基于的另一个基础镜像由它自己的 BaseImagePolicy 先更新。',
  '`status.dependents` with the state `Behind`.': '`status.dependents` 中状态为 `Behind` 的条目。',
  'The image is built on this base through another one, such as a framework, whose own BaseImagePolicy brings its applications forward. So that one is brought to the new version first, and is listed as well, with 0 workloads. Or the new version is itself built on an older version of a base below it than the image is, and waits until it is brought forward.':
    '镜像通过另一个基础镜像（例如框架）构建在此基础镜像上，而那个基础镜像有自己的 BaseImagePolicy 来更新它的应用。因此先更新那个基础镜像，它也会被列出，工作负载数为 0。或者新版本所基于的更下层基础镜像比该镜像的还旧，需要先等它被更新。',
  'See what is done about the base in between: it needs an action that applies to its repository, or a rebuild. Then nothing. With `basesBetween: Skip` in this policy, applications do not wait for it.':
    '查看对中间基础镜像做了什么：它需要一个适用于其仓库的动作，或者重新构建。之后什么都不用做。如果在此策略中设置 `basesBetween: Skip`，应用就不等待它。',
};
