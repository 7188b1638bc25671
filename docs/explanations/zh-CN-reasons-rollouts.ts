/** The Chinese texts of the reasons of failed rollouts and of blocked updates, by the English ones. */
export const chineseRollouts: Readonly<Record<string, string>> = {
  // rollouts
  'The rollout of a change failed.': '修改的滚动更新失败。',
  '[`Stalled`](#condition-stalled), and [`Held`](#condition-held) with `onFailure: Hold`; a Warning Event of the policy and of the workload; the alert `ImageWatcherRolloutFailed`. After a rollback, only the Event remains, and the condition is [`RejectedDigest`](#rejecteddigest).':
    '[`Stalled`](#condition-stalled)，设置了 `onFailure: Hold` 时还有 [`Held`](#condition-held)；策略和工作负载各有一个 Warning Event；告警 `ImageWatcherRolloutFailed`。回滚之后只留下 Event，状况的原因是 [`RejectedDigest`](#rejecteddigest)。',
  'A workload that image-watcher changed did not come up, and still runs the failed image: `onFailure` is `Hold` or `Ignore` (the default of a policy without `spec.rollout`), or it could not be rolled back. The message contains that of the pod or of the controller.':
    'image-watcher 修改的工作负载没有启动，并且仍运行失败的镜像：`onFailure` 为 `Hold` 或 `Ignore`（没有 `spec.rollout` 的策略的默认值），或者无法回滚。消息包含 Pod 或控制器的消息。',
  'Fix the image and push a newer one, or run `image-watcher rollback NS/NAME`. The condition also clears if the rollout completes after all, for example because a missing Secret was created.':
    '修复镜像并推送更新的镜像，或运行 `image-watcher rollback NS/NAME`。如果滚动更新最终完成，例如因为创建了缺少的 Secret，该状况也会消除。',
  'The controller of the workload gave up its rollout.': '工作负载的控制器放弃了滚动更新。',
  '`status.rejected[].reason`, with the message of the pod or of the controller, unless `onFailure` is `Ignore`. The condition has the reason [`RolloutFailed`](#rolloutfailed) or, after a rollback, [`RejectedDigest`](#rejecteddigest).':
    '`status.rejected[].reason`，附有 Pod 或控制器的消息，除非 `onFailure` 为 `Ignore`。状况的原因是 [`RolloutFailed`](#rolloutfailed)，回滚之后是 [`RejectedDigest`](#rejecteddigest)。',
  'The controller of the Deployment gave up the rollout after `progressDeadlineSeconds`. Pods that an admission webhook denies end here too; a quota does not count.':
    'Deployment 的控制器在 `progressDeadlineSeconds` 之后放弃了滚动更新。被准入 Webhook 拒绝的 Pod 也属于这种情况；配额不算。',
  'Run `kubectl describe` for the Deployment and its new pods. Then push a fixed image. If starting takes long, raise the deadline of the Deployment.':
    '对该 Deployment 和它的新 Pod 运行 `kubectl describe`。然后推送修复后的镜像。如果启动需要很久，请提高 Deployment 的期限。',
  'The rollout took longer than the policy allows.': '滚动更新超过了策略允许的时间。',
  'A new pod has existed for longer than `spec.rollout.timeout` without becoming ready, and the time since the change is longer too.':
    '新的 Pod 存在的时间超过 `spec.rollout.timeout` 而仍未就绪，并且距离修改的时间也超过了它。',
  'Look at the readiness probe and the log of the new pod. Push a fixed image, or raise `spec.rollout.timeout` if the program starts slowly.':
    '查看新 Pod 的就绪探针和日志。推送修复后的镜像；如果程序启动很慢，请提高 `spec.rollout.timeout`。',
  'The new pods cannot pull the image.': '新的 Pod 无法拉取镜像。',
  'The kubelet could not pull the image of a new pod for 20 s, or the name of the image is invalid. image-watcher could read the image, but the node cannot: it lacks credentials, a route to the registry, or trust in its certificate.':
    'kubelet 在 20 秒内无法拉取新 Pod 的镜像，或者镜像名称无效。image-watcher 能读取该镜像，但节点不能：节点缺少凭据、到镜像仓库的路由，或者不信任它的证书。',
  'Read the message of the pod. Check the `imagePullSecrets` of the workload, the platform of the image and the network of the nodes. Then push a newer image, or run `image-watcher release NS/NAME` to try the same one again.':
    '查看 Pod 的消息。检查工作负载的 `imagePullSecrets`、镜像的平台和节点的网络。然后推送更新的镜像，或运行 `image-watcher release NS/NAME` 再次尝试同一个镜像。',
  'The new pods crash repeatedly.': '新的 Pod 反复崩溃。',
  'A changed container of a new pod is in `CrashLoopBackOff` for the second time, or has terminated three times without becoming ready.':
    '新 Pod 中被修改的容器第二次处于 `CrashLoopBackOff`，或者已终止三次而从未就绪。',
  'Read the log of the container: `kubectl logs POD --previous`. Push a fixed image. If the cause was something else, such as a database, run `image-watcher release NS/NAME` to try the same image again.':
    '查看容器的日志：`kubectl logs POD --previous`。推送修复后的镜像。如果起因是别的，例如数据库，请运行 `image-watcher release NS/NAME` 再次尝试同一个镜像。',
  'The tool that installs the chart gave up its upgrade.': '安装 chart 的工具放弃了升级。',
  'The controller of Flux or Argo CD has given up the installation of a [chart](charts.md): a HelmRelease or OCIRepository is `Stalled`, or the sync of an Application has failed, or left it Degraded. The message is that of the controller.':
    'Flux 或 Argo CD 的控制器放弃了 [chart](charts.md) 的安装：HelmRelease 或 OCIRepository 为 `Stalled`，或者 Application 的同步失败，或同步后为 Degraded。消息来自该控制器。',
  'Read the status of the resource. Push a fixed chart. If the cause was something else, run `image-watcher release NS/NAME` to try the same chart again.':
    '查看该资源的状态。推送修复后的 chart。如果起因是别的，请运行 `image-watcher release NS/NAME` 再次尝试同一个 chart。',
  'The rollout failed, and the workload was rolled back to an earlier image.': '滚动更新失败，工作负载已回滚到先前的镜像。',
  'A Warning Event of the policy and of the workload, `status.history[].result`; the push has the outcome `stalled`. The condition has the reason [`RejectedDigest`](#rejecteddigest).':
    '策略和工作负载各有一个 Warning Event，`status.history[].result`；推送的结果是 `stalled`。状况的原因是 [`RejectedDigest`](#rejecteddigest)。',
  'The rollout of a new image failed, and the policy has `spec.rollout.onFailure: Rollback`. The workload runs the last image again whose rollout had succeeded, or what ran right before.':
    '新镜像的滚动更新失败，而策略设置了 `spec.rollout.onFailure: Rollback`。工作负载重新运行上一个滚动更新成功的镜像，或者紧邻之前运行的镜像。',
  'Fix the image and push a newer one; the same digest is not tried again. The Event contains the message of the failed pod.':
    '修复镜像并推送更新的镜像；同一个摘要不会再次尝试。Event 包含失败的 Pod 的消息。',
  'The rollout failed, and the workload could not be rolled back to the previous image.': '滚动更新失败，工作负载无法回滚到上一个镜像。',
  'A Warning Event of the policy and of the workload, the alert `ImageWatcherRollbackFailed`, and `status.history[].rollbackRefused` if the API server rejected the patch. The condition has the reason [`RolloutFailed`](#rolloutfailed).':
    '策略和工作负载各有一个 Warning Event，告警 `ImageWatcherRollbackFailed`，如果 API server 拒绝了补丁，还有 `status.history[].rollbackRefused`。状况的原因是 [`RolloutFailed`](#rolloutfailed)。',
  'The previous image is unknown or had the same tag, the failed change was itself a rollback, or the API server rejected the patch. The message says which. The failed image stays in place.':
    '上一个镜像未知或标签相同，失败的修改本身就是回滚，或者 API server 拒绝了补丁。消息说明是哪一种。失败的镜像保留在原处。',
  'Run `image-watcher rollback NS/NAME --to TAG` with a tag that works, set the image yourself, or push a fixed image.':
    '用能工作的标签运行 `image-watcher rollback NS/NAME --to TAG`，自己设置镜像，或推送修复后的镜像。',
  'The rollout failed, and the policy as it is now does not allow a rollback to the previous image.':
    '滚动更新失败，而策略现在的内容不允许回滚到上一个镜像。',
  'A Warning Event of the policy, `status.history[].rollbackRefused`, the alert `ImageWatcherRollbackFailed`. The condition has the reason [`RolloutFailed`](#rolloutfailed).':
    '策略有一个 Warning Event，`status.history[].rollbackRefused`，告警 `ImageWatcherRollbackFailed`。状况的原因是 [`RolloutFailed`](#rolloutfailed)。',
  'The policy no longer allows the change: the previous image is of another repository or lacks the signatures that the policy requires, the workload is no longer a target, its owners do not consent, or `spec.update.mode` is `DryRun`.':
    '策略不再允许该修改：上一个镜像属于另一个镜像名称或缺少策略要求的签名，工作负载不再是目标，它的所有者不同意，或者 `spec.update.mode` 为 `DryRun`。',
  'Read the message. If consent or a signature is missing, add it: the rollback is retried with growing pauses for a day. Otherwise run `image-watcher rollback NS/NAME --to TAG`, or push a fixed image.':
    '查看消息。如果缺少同意或签名，请补上：回滚会在一天之内重试，间隔逐渐增大。否则运行 `image-watcher rollback NS/NAME --to TAG`，或推送修复后的镜像。',
  // blocked
  'The policy only reports what it would do.': '策略只报告它会做什么。',
  '`Ready` is True; a Normal Event for each new plan. The message lists what would be changed.':
    '`Ready` 为 True；每个新计划有一个 Normal Event。消息列出会修改什么。',
  '`spec.update.mode` is `DryRun`, and an update is available.': '`spec.update.mode` 为 `DryRun`，并且有更新可用。',
  'Set `spec.update.mode: Automatic` to let image-watcher apply it.': '设置 `spec.update.mode: Automatic`，让 image-watcher 应用它。',
  'The update waits until somebody approves its digest.': '更新等待有人批准它的摘要。',
  'The condition [`ApprovalRequired`](#condition-approvalrequired), `Ready` is True, `status.pendingApproval`, a Normal Event.':
    '状况 [`ApprovalRequired`](#condition-approvalrequired)，`Ready` 为 True，`status.pendingApproval`，一个 Normal Event。',
  '`spec.update.mode` is `Approval`, and the selected tag and digest are not approved. An approval applies to exactly one digest.':
    '`spec.update.mode` 为 `Approval`，而选中的标签和摘要没有得到批准。一次批准只针对一个摘要。',
  'Run `image-watcher approve NS/NAME`. If a newer image was pushed meanwhile, that one is pending instead, and an approval of the older one has no effect.':
    '运行 `image-watcher approve NS/NAME`。如果其间推送了更新的镜像，等待批准的就是它，对较旧镜像的批准没有作用。',
  'The update waits for the next window of the policy.': '更新等待策略的下一个窗口。',
  '[`Reconciling`](#condition-reconciling), `status.waiting` with the time, an Event; a push has the outcome `waiting`.':
    '[`Reconciling`](#condition-reconciling)、带有时间的 `status.waiting`、一个 Event；推送的结果是 `waiting`。',
  'The time is outside `spec.update.windows`.': '当前时间在 `spec.update.windows` 之外。',
  'Wait: the update is applied when the window opens. To update earlier, change `spec.update.windows`.':
    '等待：窗口打开时应用更新。要更早更新，请修改 `spec.update.windows`。',
  'A manual change replaced our image, and stays until there is a newer one.': '手动修改替换了我们的镜像，并保留到有更新的镜像为止。',
  'The condition [`Held`](#condition-held), `Ready` is True, a Normal Event. The message names who changed the image.':
    '状况 [`Held`](#condition-held)，`Ready` 为 True，一个 Normal Event。消息指出谁修改了镜像。',
  'Somebody changed an image that image-watcher had applied, and the policy selects nothing newer than the image that was replaced.':
    '有人修改了 image-watcher 应用的镜像，而策略没有选择比被替换的镜像更新的镜像。',
  'Nothing if the manual change should stay: the next newer image replaces it. Run `image-watcher release NS/NAME` to apply the selected image now. A release with a time in the future is shown in `status.waiting`.':
    '如果手动修改应当保留，什么都不用做：下一个更新的镜像会替换它。运行 `image-watcher release NS/NAME` 立即应用选中的镜像。时间在将来的放行显示在 `status.waiting` 中。',
  'The image failed a rollout, was rolled back or was rejected, and is not applied.': '镜像滚动更新失败、已被回滚或被拒绝，不会应用。',
  '[`Stalled`](#condition-stalled) after a failed rollout; [`Held`](#condition-held) after a rollback or a rejection by a user. An Event says which image.':
    '滚动更新失败之后是 [`Stalled`](#condition-stalled)；用户回滚或拒绝之后是 [`Held`](#condition-held)。Event 指出是哪个镜像。',
  'The selected image failed its rollout, or a user rolled back from it or rejected it. It is listed in `status.rejected` with its digest and is not applied again. After a rollback by a user, that includes everything that is not newer.':
    '选中的镜像滚动更新失败，或者用户从它回滚或拒绝了它。它连同摘要列在 `status.rejected` 中，不会再次应用。用户回滚之后，所有不比它新的镜像也是如此。',
  'Push a newer image; the same tag with a new digest is sufficient after a failed rollout. If the image is good after all, run `image-watcher release NS/NAME`.':
    '推送更新的镜像；滚动更新失败之后，以新的摘要推送同一个标签就足够了。如果镜像其实没有问题，请运行 `image-watcher release NS/NAME`。',
  'The first change would go to a version that is far from what runs, or to an older image, and the policy names no range.':
    '首次更改会到达与正在运行的版本相差很远的版本或较旧的镜像，而策略没有写明范围。',
  '[`Held`](#condition-held). An Event and `image-watcher explain` say which container, and why.':
    '[`Held`](#condition-held)。Event 和 `image-watcher explain` 说明是哪个容器，以及为什么。',
  'The policy selects by `semver` without a `range`, or with one that contains every version (`*`), and would change a container for the first time: to a major version more than ten times as high as the running one (`2021.12.16` in place of `10.11.4`), or to an image that was created more than a day before the running one. A held change stays held while these times cannot be read.':
    '策略按 `semver` 选择而没有 `range`，或其 `range` 包含所有版本（`*`），并且会首次更改某个容器：主版本号超过正在运行的十倍（以 `2021.12.16` 替换 `10.11.4`），或者镜像的创建时间比正在运行的早一天以上。已暂停的更改在无法读取这些时间时保持暂停。',
  'Write the versions that you expect into `select.semver.range` (`>=10 <12`). If the selected image is the right one, run `image-watcher release NS/NAME`. Later changes are not checked. With a written range, `numerical` or `alphabetical` nothing is held; `image-watcher lint --cluster` warns of the same changes before.':
    '把你预期的版本写入 `select.semver.range`（`>=10 <12`）。如果选中的镜像正确，请运行 `image-watcher release NS/NAME`。之后的更改不再检查。写明范围，或使用 `numerical`、`alphabetical` 时，不会暂停任何更改；`image-watcher lint --cluster` 会事先对同样的更改发出警告。',
  'The image has more vulnerabilities than the one that runs (verify.vulnerabilities.notMoreThanRunning).':
    '镜像的漏洞多于正在运行的镜像（verify.vulnerabilities.notMoreThanRunning）。',
  'The vulnerabilities of the image are not known, and the policy demands that they are (verify.vulnerabilities.notMoreThanRunning).':
    '镜像的漏洞未知，而策略要求已知（verify.vulnerabilities.notMoreThanRunning）。',
  '[`Held`](#condition-held), and `status.vulnerabilities`, which names what the image adds.':
    '[`Held`](#condition-held)，以及 `status.vulnerabilities`，其中列出该镜像增加的漏洞。',
  'From the severity of `verify.vulnerabilities.notMoreThanRunning` on, the image has more vulnerabilities than the one that it would replace, by reports of the same scanner.':
    '从 `verify.vulnerabilities.notMoreThanRunning` 的严重级别起，按同一扫描器的报告，该镜像的漏洞多于它要替换的镜像。',
  'Push an image with fewer of them. If it is to run all the same, run `image-watcher release NS/NAME`; `image-watcher explain NS/NAME` names the vulnerabilities.':
    '推送漏洞更少的镜像。如果仍要运行它，请运行 `image-watcher release NS/NAME`；`image-watcher explain NS/NAME` 列出这些漏洞。',
  '`Reconciling` for an hour, then [`Held`](#condition-held); `status.vulnerabilities` says what is missing, and what does not count.':
    '一小时内为 `Reconciling`，之后为 [`Held`](#condition-held)；`status.vulnerabilities` 说明缺少什么，以及什么不算数。',
  'The policy demands with `verify.vulnerabilities.notMoreThanRunning` that the vulnerabilities of an image are known. There is no report of a scanner for it or for the running image, or none that counts.':
    '策略通过 `verify.vulnerabilities.notMoreThanRunning` 要求镜像的漏洞是已知的。它或正在运行的镜像没有扫描器的报告，或没有算数的报告。',
  'Attest the scan of the image, or let the scanner of the registry or of the cluster report it. It is looked at again after 15 s, then less and less often for an hour, and then with each poll or push. `image-watcher release NS/NAME` applies it without.':
    '为镜像的扫描结果作出证明（attestation），或让仓库或集群的扫描器报告它。15 秒后再次查看，之后一小时内间隔越来越长，再往后随每次轮询或推送查看。`image-watcher release NS/NAME` 会在没有证据的情况下应用它。',
  'A user rejected the image.': '用户拒绝了该镜像。',
  '`status.rejected[].reason`; its message says who rejected the image or base, and why. The condition of an ImagePolicy has the reason [`RejectedDigest`](#rejecteddigest), and [`Held`](#condition-held) of a BaseImagePolicy has this one.':
    '`status.rejected[].reason`；其消息说明是谁拒绝了镜像或基础镜像以及为什么。ImagePolicy 的状况的原因是 [`RejectedDigest`](#rejecteddigest)，BaseImagePolicy 的 [`Held`](#状况-held) 则是此原因。',
  'A user rejected the image or base with `image-watcher reject`, on the dashboard, through the API or by the annotation.':
    '用户用 `image-watcher reject`、仪表板、API 或注解拒绝了镜像或基础镜像。',
  'Push a newer image, or run `image-watcher release NS/NAME` (`bipol/NAME -n NS` for a base) to take the rejection back.':
    '推送更新的镜像，或运行 `image-watcher release NS/NAME`（基础镜像为 `bipol/NAME -n NS`）撤回拒绝。',
  'A user rolled back to an older image.': '用户回滚到较旧的镜像。',
  '`status.rejected[].reason`. The condition has the reason [`RejectedDigest`](#rejecteddigest).':
    '`status.rejected[].reason`。状况的原因是 [`RejectedDigest`](#rejecteddigest)。',
  'A user rolled back with `image-watcher rollback` or the annotation. The image that ran before the rollback is recorded, so that it is not applied again.':
    '用户用 `image-watcher rollback` 或注解回滚。回滚之前运行的镜像被记录下来，因此不会再次应用。',
  'Push a newer image, or run `image-watcher release NS/NAME` to return to the selected one.':
    '推送更新的镜像，或运行 `image-watcher release NS/NAME` 回到选中的镜像。',
  'A requested rollback changed nothing.': '请求的回滚没有改变任何内容。',
  '`status.lastRollbackProblem` and a Warning Event of the policy; `image-watcher rollback` prints it, and exits with code 1. No workload is changed.':
    '`status.lastRollbackProblem` 和策略的 Warning Event；`image-watcher rollback` 显示它，并以退出码 1 结束。不修改任何工作负载。',
  'A rollback was requested, but all targets run the tag already, or something keeps them from being changed, `status.history` has no earlier image that has not failed, the registry no longer has the tag, or the annotation is neither a tag nor `previous`. The message says which. No image is rejected because of it, and the conditions stay as they are.':
    '请求了回滚，但所有目标已经运行该标签，或者有什么阻止修改它们，`status.history` 中没有未失败的更早的镜像，镜像仓库中不再有该标签，或者注解既不是标签也不是 `previous`。消息说明是哪一种。不会因此拒绝任何镜像，状况保持不变。',
  'Name another tag that the registry has: `image-watcher rollback NS/NAME --to TAG`.':
    '写出镜像仓库中有的另一个标签：`image-watcher rollback NS/NAME --to TAG`。',
  'The user withdrew the request before it was processed.': '用户在请求得到处理之前撤回了它。',
  'The log message `policy reconciled` at `debug`, `image_watcher_reconciles_total`. The conditions do not change.':
    '`debug` 级别的日志消息 `policy reconciled`、`image_watcher_reconciles_total`。状况不变。',
  'The annotation that requested a rollback was removed or replaced before a worker processed it.':
    '请求回滚的注解在工作进程处理之前被删除或替换。',
  'Nothing. If the annotation was replaced, the new request is processed.': '什么都不用做。如果注解被替换，会处理新的请求。',
  'The rollouts of the workload are paused.': '工作负载的滚动更新已暂停。',
  'The condition [`Held`](#condition-held), `Ready` is True, a Normal Event.':
    '状况 [`Held`](#condition-held)，`Ready` 为 True，一个 Normal Event。',
  'The rollouts of the workload are paused (by `kubectl rollout pause`, or in its own spec), and an update is available.':
    '工作负载的滚动更新已暂停（由 `kubectl rollout pause`，或在它自己的 spec 中），并且有更新可用。',
  'Resume it with the command that the message names: `kubectl rollout resume` for a Deployment, `kubectl argo rollouts promote` for a Rollout. The update is applied as soon as image-watcher sees that.':
    '用消息指出的命令恢复它：Deployment 用 `kubectl rollout resume`，Rollout 用 `kubectl argo rollouts promote`。image-watcher 一发现恢复，就应用更新。',
  'The workload was changed to the same image too often within an hour.': '工作负载在一小时内被改为同一个镜像的次数过多。',
  'The same image was written to a container `guards.repeatsPerHour` times within an hour (5 by default), because something else replaces it each time: another policy, a script or a controller.':
    '同一个镜像在一小时内向容器写入了 `guards.repeatsPerHour` 次（默认 5 次），因为每次都有别的东西替换它：另一个策略、脚本或控制器。',
  'Find out what else writes the image: `kubectl get -o yaml --show-managed-fields` shows who. The next change is allowed at the time in `status.waiting`. A newer image is applied at once; `image-watcher release` does not end this wait.':
    '找出还有什么写入镜像：`kubectl get -o yaml --show-managed-fields` 显示是谁。下一次修改在 `status.waiting` 中的时间才允许。更新的镜像立即应用；`image-watcher release` 不结束这一等待。',
  'The rollout failed for another reason than the image, and is tried again after a pause.':
    '滚动更新因镜像以外的原因失败，暂停之后再次尝试。',
  '[`Reconciling`](#condition-reconciling), with the message of the pod and the time in `status.waiting`; `status.history[].failure` of the change; a Warning Event says when it is tried again.':
    '[`Reconciling`](#condition-reconciling)，附有 Pod 的消息和 `status.waiting` 中的时间；该修改的 `status.history[].failure`；Warning Event 说明何时再次尝试。',
  'The rollout of the selected image failed and was rolled back, but nothing speaks against the image: its pods could not be scheduled or created, a node was lost, or the registry refused or did not answer the node. See [whose fault it is](rollouts.md#whose-fault-it-is).':
    '选中的镜像滚动更新失败并已回滚，但没有迹象表明问题在镜像：它的 Pod 无法调度或创建，一个节点丢失，或者镜像仓库拒绝或没有答复节点。见[失败归咎于谁](rollouts.md#whose-fault-it-is)。',
  'Mend what the message names. The image is tried again by itself; `image-watcher release NS/NAME` tries it at once, and so does an edit of the policy.':
    '修复消息指出的问题。镜像会自动再次尝试；`image-watcher release NS/NAME` 立即尝试，修改策略也会。',
  'Rollouts of the image failed several times for another reason than the image, and it is not tried again by itself.':
    '镜像的滚动更新多次因镜像以外的原因失败，不会自动再次尝试。',
  '[`Stalled`](#condition-stalled), with the message of the pod.': '[`Stalled`](#condition-stalled)，附有 Pod 的消息。',
  'Four rollouts of the selected image failed, one after the other, for another reason than the image: see [`RolloutRetry`](#rolloutretry). The workload runs the previous image.':
    '选中的镜像连续四次滚动更新失败，都因镜像以外的原因：见 [`RolloutRetry`](#rolloutretry)。工作负载运行上一个镜像。',
  'Mend what the message names, then run `image-watcher release NS/NAME`. A newer image or an edit of the policy is tried as well.':
    '修复消息指出的问题，然后运行 `image-watcher release NS/NAME`。更新的镜像或策略的修改也会得到尝试。',
  'The workload is changed when the workloads before it have rolled out.': '在它之前的工作负载完成滚动更新之后，才修改该工作负载。',
  'The policy changes its workloads in waves (`rollout.waves`), and this workload comes after others: after the canaries, or after those of the wave that rolls out now. The message names one of them.':
    '策略分批修改它的工作负载（`rollout.waves`），而该工作负载排在其他工作负载之后：在金丝雀之后，或在当前批次之后。消息指出其中一个。',
  'Nothing: the next wave begins when the rollouts of this one are complete. `kubectl rollout status` (for an Argo Rollout `kubectl argo rollouts get rollout`) shows what they wait for. If a canary is blocked by something else, such as a manual change, `image-watcher explain` names it.':
    '什么都不用做：当前批次的滚动更新完成后，下一批开始。`kubectl rollout status`（Argo Rollout 用 `kubectl argo rollouts get rollout`）显示它们在等待什么。如果金丝雀被别的东西阻止，例如手动修改，`image-watcher explain` 会指出。',
  'The workload is changed when the pause after the last wave is over.': '上一批之后的暂停结束时，才修改该工作负载。',
  'The last wave of the policy (`rollout.waves`) has rolled out, and its `pause` is not over.':
    '策略（`rollout.waves`）的上一批已完成滚动更新，它的 `pause` 还没有结束。',
  'Nothing: the next wave begins at the time in `status.waiting`. To begin it now, shorten `rollout.waves.pause`.':
    '什么都不用做：下一批在 `status.waiting` 中的时间开始。要立即开始，请缩短 `rollout.waves.pause`。',
  'The update waits until the policies that this one follows have run the image, complete and available, for long enough.':
    '更新等待被跟随的策略以完整且可用的状态运行该镜像足够长的时间。',
  '[`Reconciling`](#condition-reconciling), `status.waiting` with the time, an Event; a push has the outcome `waiting`. Where nothing can be said of a time, the condition `Ready`; `status.follows` shows each followed policy.':
    '[`Reconciling`](#condition-reconciling)、带有时间的 `status.waiting`、一个 Event；推送的结果是 `waiting`。时间无法确定时，为状况 `Ready`；`status.follows` 显示每个被跟随的策略。',
  'The policy follows others (`select.proven` or `update.after`), and not all of them run the image, complete and available, or not yet for long enough. Where one of them was rolled back, or pods of it were unavailable, its time began anew.':
    '策略跟随其他策略（`select.proven` 或 `update.after`），而它们没有全部以完整且可用的状态运行该镜像，或者时间还不够长。如果其中一个曾被回滚，或者它的 Pod 曾不可用，它的时间重新开始计算。',
  'Nothing: the next change of a followed policy, or the end of the time, reconciles this one. The message names the policy that does not run it, and why: it may pin tags, be suspended, or its owners may not have [consented](policies/which-workloads.md#other-namespaces). `image-watcher promote NS/NAME` applies the image without the rest of the time.':
    '什么都不用做：被跟随的策略的下一次变化，或时间结束，会使本策略进行调谐。消息指出没有运行它的策略及原因：它可能固定的是标签，已暂停，或者它的所有者没有[同意](policies/which-workloads.zh-CN.md#其他命名空间)。`image-watcher promote NS/NAME` 不等剩余的时间就应用该镜像。',
  'Somebody holds the policy at what it runs.': '有人让策略保持正在运行的镜像。',
  'The condition [`Held`](#condition-held), `Ready` is True, a Normal Event. The message names since when, by whom and why.':
    '状况 [`Held`](#condition-held)，`Ready` 为 True，一个 Normal 的 Event。消息指出从何时开始、由谁以及为什么。',
  'Somebody has run `image-watcher hold NS/NAME`, or written the annotation `operator.technomad.dev/hold`, and the policy selects something else than what runs.':
    '有人运行了 `image-watcher hold NS/NAME`，或写入了注解 `operator.technomad.dev/hold`，而策略选中的不是正在运行的镜像。',
  'Nothing if it should stay. `image-watcher release NS/NAME` ends the hold, and `image-watcher promote NS/NAME` applies the selected image alone. A hold whose annotation does not begin with a time ends when the annotation is removed.':
    '如果应该保持，什么都不用做。`image-watcher release NS/NAME` 结束冻结，`image-watcher promote NS/NAME` 只应用选中的镜像。注解不以时间开头的冻结在移除该注解时结束。',
  'The repository does not hold the image that the followed policies run.': '仓库中没有被跟随的策略所运行的镜像。',
  '[`Reconciling`](#condition-reconciling); a push has the outcome `waiting`.':
    '[`Reconciling`](#condition-reconciling)；推送的结果是 `waiting`。',
  'The followed policies run an image, and the repository of this policy does not hold it. Its digest is compared: an image that was built again, or copied with fewer platforms, is another one.':
    '被跟随的策略运行一个镜像，而本策略的仓库中没有它。比较的是摘要：重新构建的镜像，或以较少平台复制的镜像，是另一个镜像。',
  'Copy the image, with all its platforms, for example with `crane copy` or a replication rule. The push of the copy reconciles the policy.':
    '复制该镜像及其所有平台，例如使用 `crane copy` 或复制规则。副本的推送会使策略进行调谐。',
  '[`Held`](#condition-held) for a check before the change. For one during or after the rollout as a failed rollout: `status.rejected` has the digest, and the message the name of the check. `status.checks` lists the verdicts.':
    '修改之前的检查显示为 [`Held`](#condition-held)。滚动更新期间或之后的检查显示为失败的滚动更新：`status.rejected` 有摘要，消息有检查的名称。`status.checks` 列出结论。',
  'A check of the policy ([`rollout.checks`](checks.md)) gave a bad verdict on the image: an endpoint said `fail`, a number of a query was not in its range, or a Job failed.':
    '策略的检查（[`rollout.checks`](checks.md)）对该镜像给出了否定的结论：端点回答 `fail`，查询的某个数不在范围内，或者 Job 失败。',
  'Push a better image. If the check was wrong, correct it, which asks it anew before a change, or run `image-watcher release NS/NAME`, which asks all checks of the image again.':
    '推送更好的镜像。如果检查有误，请改正它，这会在修改之前重新询问；或者运行 `image-watcher release NS/NAME`，它会重新询问该镜像的所有检查。',
  '[`Held`](#condition-held) for a check before the change. For one during or after the rollout as a failed rollout for another reason than the image: it is rolled back and tried again ([`RolloutRetry`](#rolloutretry)).':
    '修改之前的检查显示为 [`Held`](#condition-held)。滚动更新期间或之后的检查显示为并非由镜像引起的失败：回滚并再次尝试（[`RolloutRetry`](#rolloutretry)）。',
  'A check of the policy ([`rollout.checks`](checks.md)) gave no verdict within its `timeout`. The message is the last answer: an endpoint that is not reached or not allowed, a query without data, a Job that did not end or may not be made.':
    '策略的检查（[`rollout.checks`](checks.md)）在其 `timeout` 内没有给出结论。消息是最后的回答：端点无法访问或不被允许，查询没有数据，Job 没有结束或不允许创建。',
  'Do what the message says, then run `image-watcher release NS/NAME`.': '按消息所说的做，然后运行 `image-watcher release NS/NAME`。',
  'The policy has checks before the change ([`rollout.checks`](checks.md)), and not all have a verdict on this image.':
    '策略有修改之前的检查（[`rollout.checks`](checks.md)），并非所有检查都对该镜像有了结论。',
  'Nothing: the checks are asked until they answer. `status.checks` shows the last answer of each.':
    '无需操作：检查会被询问，直到有回答。`status.checks` 显示每项检查的最后回答。',
  'A check of the policy (rollout.checks) gave a bad verdict on the image.': '策略的检查（rollout.checks）对该镜像给出了否定的结论。',
  'A check of the policy (rollout.checks) gave no verdict in time.': '策略的检查（rollout.checks）没有及时给出结论。',
  'The update waits for the verdict of a check of the policy (rollout.checks).': '更新等待策略的检查（rollout.checks）的结论。',
};
