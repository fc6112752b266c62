//! The allocation loop of one node's aws-node, for the default network card, as a machine that is stepped.

/// `WARM_ENI_TARGET`, `WARM_IP_TARGET`, `MINIMUM_IP_TARGET`, `WARM_PREFIX_TARGET`; the address targets are unset at zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Targets {
    pub(crate) warm_eni: u32,
    pub(crate) warm_ip: u32,
    pub(crate) minimum_ip: u32,
    pub(crate) warm_prefix: u32,
}

/// One node.
#[derive(Debug, Clone)]
pub(crate) struct Ipamd {
    max_eni: u32,
    trunk: u32,
    unmanaged: u32,
    pub(crate) slots_per_interface: u32,
    pub(crate) prefixes: bool,
    pub(crate) max_pods: u32,
    pub(crate) targets: Targets,
    /// Slots that each secondary interface has filled.
    interfaces: Vec<u32>,
    /// Pods in each slot, in the order in which slots came.
    slots: Vec<u32>,
    waiting: u32,
}

impl Ipamd {
    pub(crate) fn new(
        max_eni: u32,
        trunk: u32,
        unmanaged: u32,
        slots_per_interface: u32,
        prefixes: bool,
        max_pods: u32,
        targets: Targets,
    ) -> Self {
        Self {
            max_eni,
            trunk,
            unmanaged,
            slots_per_interface,
            prefixes,
            max_pods,
            targets,
            interfaces: Vec::new(),
            slots: Vec::new(),
            waiting: 0,
        }
    }

    /// Secondary interfaces that fit beside the primary one, the trunk and the unmanaged ones.
    pub(crate) fn interfaces_left(&self) -> u32 {
        (1..=self.max_eni).filter(|count| 1 + count + self.unmanaged + self.trunk <= self.max_eni).count() as u32
    }

    /// Interfaces, single addresses, prefixes.
    pub(crate) fn taken(&self) -> (u32, u32, u32) {
        let slots = self.slots.len() as u32;
        let (addresses, prefixes) = if self.prefixes { (0, slots) } else { (slots, 0) };
        (self.interfaces.len() as u32, addresses, prefixes)
    }

    /// Node init: with custom networking one growth step is taken before the node can be Ready.
    pub(crate) fn start(&mut self) {
        if self.too_low() {
            self.grow();
        }
    }

    /// Runs the loop until it changes nothing any more.
    pub(crate) fn settle(&mut self) {
        for _ in 0..10_000 {
            let before = (self.interfaces.clone(), self.slots.clone());
            if self.too_low() {
                self.grow();
            }
            self.place_waiting();
            if before == (self.interfaces.clone(), self.slots.clone()) {
                return;
            }
        }
        panic!("the loop does not settle: {self:?}");
    }

    pub(crate) fn add_pod(&mut self) {
        if self.pods() + self.waiting < self.max_pods {
            self.waiting += 1;
        }
        self.place_waiting();
    }

    fn pods(&self) -> u32 {
        self.slots.iter().sum()
    }

    fn addresses_per_slot(&self) -> u32 {
        if self.prefixes { 16 } else { 1 }
    }

    fn total(&self) -> u32 {
        self.slots.len() as u32 * self.addresses_per_slot()
    }

    fn place_waiting(&mut self) {
        let room = self.addresses_per_slot();
        while self.waiting > 0 {
            let Some(slot) = self.slots.iter_mut().find(|pods| **pods < room) else { return };
            *slot += 1;
            self.waiting -= 1;
        }
    }

    fn address_targets_defined(&self) -> bool {
        self.targets.warm_ip >= 1 || self.targets.minimum_ip >= 1
    }

    /// `datastoreTargetState`: how many addresses, or prefixes, are missing. The second value says whether targets exist.
    fn short(&self) -> (u32, bool) {
        if !self.address_targets_defined() {
            return (0, false);
        }
        let available = self.total() - self.pods();
        let mut short = 0;
        if self.targets.warm_ip > available {
            short = self.targets.warm_ip - available;
        }
        if self.targets.minimum_ip > self.total() && self.targets.minimum_ip - self.total() > short {
            short = self.targets.minimum_ip - self.total();
        }
        if self.prefixes {
            let mut prefixes = 0;
            while prefixes * 16 < short {
                prefixes += 1;
            }
            return (prefixes, true);
        }
        (short, true)
    }

    /// `isDatastorePoolTooLow`.
    fn too_low(&self) -> bool {
        if self.total() >= self.max_pods {
            return false;
        }
        let (short, defined) = self.short();
        if defined {
            return short > 0;
        }
        let available = self.total() - self.pods();
        let (warm, unit) = if self.prefixes {
            (self.targets.warm_prefix, 16)
        } else {
            (self.targets.warm_eni, self.slots_per_interface)
        };
        available < warm * unit || (warm == 0 && available == 0)
    }

    /// `getPrefixesNeeded`.
    fn prefixes_needed(&self) -> u32 {
        let (short, defined) = self.short();
        if defined {
            return short.max(1);
        }
        let free = self.slots.iter().filter(|pods| **pods == 0).count() as u32;
        let mut missing = 0;
        while free + missing < self.targets.warm_prefix {
            missing += 1;
        }
        missing.max(1)
    }

    /// `increaseDatastorePool`: fill an interface that has room, else attach another.
    fn grow(&mut self) {
        let (short, defined) = self.short();
        let wanted = if self.prefixes {
            self.prefixes_needed()
        } else if defined {
            short
        } else {
            self.slots_per_interface
        };
        let slots_per_interface = self.slots_per_interface;
        if let Some(filled) = self.interfaces.iter_mut().find(|filled| **filled < slots_per_interface) {
            let step = wanted.min(slots_per_interface - *filled);
            *filled += step;
            self.slots.extend((0..step).map(|_| 0));
            return;
        }
        // The primary interface counts among those that are attached.
        let attached = self.interfaces.len() as u32 + 1;
        if attached + self.unmanaged + self.trunk < self.max_eni {
            let step = wanted.min(slots_per_interface);
            self.interfaces.push(step);
            self.slots.extend((0..step).map(|_| 0));
        }
    }
}
