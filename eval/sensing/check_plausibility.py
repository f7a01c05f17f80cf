import numpy as np, collections, time
from dataclasses import replace
from nsrecover.perception.sensor_checks import check_observation
from sim.tabletop.world import TabletopWorld
from sim.tabletop.sampling import sample_scene
from sim.sensors.presets import sensor
from sim.sensors.sensor import recorded

F = np.diag([1, -1, -1, 1]).astype(np.float32)


def cams(o, f):
    return replace(
        o, cameras=tuple(replace(c, world_from_camera=f(c.world_from_camera).astype(np.float32)) for c in o.cameras)
    )


bad = {
    "mm": lambda o: replace(o, depth_m=o.depth_m * 1000),
    "cm": lambda o: replace(o, depth_m=o.depth_m * 100),
    "gl": lambda o: cams(o, lambda m: m @ F),
    "inv": lambda o: cams(o, np.linalg.inv),
    "glinv": lambda o: cams(o, lambda m: np.linalg.inv(m @ F)),
    "mm+gl": lambda o: cams(replace(o, depth_m=o.depth_m * 1000), lambda m: m @ F),
    "swap": lambda o: replace(o, cameras=o.cameras[::-1]),
    "zero": lambda o: replace(o, depth_m=o.depth_m * 0),
    "zero1": lambda o: replace(o, depth_m=np.stack([o.depth_m[0], o.depth_m[1] * 0])),
    "nomask": lambda o: replace(o, instances=o.instances * 0),
    "bump5cm": lambda o: replace(
        o,
        cameras=(
            o.cameras[0],
            replace(
                o.cameras[1],
                world_from_camera=o.cameras[1].world_from_camera
                + np.array([[0, 0, 0, 0.05], [0] * 4, [0] * 4, [0] * 4], np.float32),
            ),
        ),
    ),
    "bump10": lambda o: replace(
        o,
        cameras=(
            o.cameras[0],
            replace(
                o.cameras[1],
                world_from_camera=o.cameras[1].world_from_camera
                + np.array([[0, 0, 0, 0.0], [0] * 4, [0, 0, 0, 0.1], [0] * 4], np.float32),
            ),
        ),
    ),
}
res = collections.defaultdict(collections.Counter)
for k in range(4):
    scene = sample_scene(np.random.default_rng(100 + k), 3 + k % 5)
    with TabletopWorld(scene) as w:
        e = w.observe()
    for name in ("clean", "d435", "tof", "stereo", "harsh"):
        o = sensor(name).stream(2, k).observe(recorded(e))
        t = time.time()
        res[name][tuple(str(f) for f in check_observation(o)) or "ok"] += 1
        res["ms"][round(100 * (time.time() - t)) * 10] += 1
        for b, f in bad.items():
            res[b][tuple(x.problem.value for x in check_observation(f(o))) or "ok"] += 1
for k, v in res.items():
    print(k, dict(v))
